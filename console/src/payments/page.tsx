/** The page of one payment. */
import { useParams } from '@tanstack/react-router';
import { useWords } from '../words/words.ts';
import { PaymentView } from './payment.tsx';

/** The screen. */
export const PaymentPage = () => {
  const words = useWords();
  const { merchantId = '', id = '' }: { merchantId?: string; id?: string } = useParams({
    strict: false,
  });
  return (
    <>
      <header className="page-head">
        <h1>{words.columns.payment}</h1>
      </header>
      <PaymentView merchantId={merchantId} id={id} />
    </>
  );
};
