/** The drawer of a payment over the list, with its own address; loaded on first use. */
import { later } from '../parts/later.tsx';
import { useAddress } from '../address.ts';

const LaterDrawer = later(() => import('./open-drawer.tsx').then(({ OpenDrawer }) => OpenDrawer));

/** The drawer, when the address names a payment. */
export const PaymentDrawer = () => {
  const { search } = useAddress();
  const [merchantId, id] = (search.open ?? '').split('/');
  return merchantId === undefined || id === undefined ? null : (
    <LaterDrawer merchantId={merchantId} id={id} />
  );
};
