/** One payment on its page, and in a drawer over a list. */
import { ObjectDrawer, ObjectPage } from '../parts/modal.tsx';
import { words } from '../words/words.ts';
import { PaymentView } from './payment.tsx';

export const PaymentPage = () => <ObjectPage name={words.columns.payment} view={PaymentView} />;

export const OpenDrawer = () => (
  <ObjectDrawer name={words.columns.payment} page="/payments/$merchantId/$id" view={PaymentView} />
);
