/** One payment over the list, with its own address; loaded with the first one. */
import { lazy, Suspense } from 'react';
import { useAddress } from '../address.ts';

const LaterDrawer = lazy(() =>
  import('./open-drawer.tsx').then(({ OpenDrawer }) => ({ default: OpenDrawer })),
);

/** The drawer, when the address names a payment. */
export const PaymentDrawer = () => {
  const { search } = useAddress();
  const [merchantId, id] = (search.open ?? '').split('/');
  return (
    <Suspense fallback={null}>
      {merchantId !== undefined && id !== undefined && (
        <LaterDrawer merchantId={merchantId} id={id} />
      )}
    </Suspense>
  );
};
