/** One payment on its page, and in a drawer over a list. */
import { useParams, Link } from '@tanstack/react-router';
import { kept, useAddress } from '../address.ts';
import { PageHead } from '../parts/texts.tsx';
import { Icon } from '../parts/icon.tsx';
import { Modal } from '../parts/modal.tsx';
import type { ObjectId } from '../parts/table.tsx';
import { useWords } from '../words/words.ts';
import { PaymentView } from './payment.tsx';

export const PaymentPage = () => {
  const words = useWords();
  const { merchantId = '', id = '' }: { merchantId?: string; id?: string } = useParams({
    strict: false,
  });
  return (
    <>
      <PageHead name={words.columns.payment} />
      <PaymentView merchantId={merchantId} id={id} />
    </>
  );
};

export const OpenDrawer = ({ merchantId, id }: ObjectId) => {
  const words = useWords();
  const { search, set } = useAddress();
  return (
    <Modal
      side
      title={words.columns.payment}
      isOpen
      onClose={() => set({ open: undefined })}
      head={
        <Link
          className="icon-button"
          to="/payments/$merchantId/$id"
          params={{ merchantId, id }}
          search={kept(search)}
          aria-label={words.payment.open}
          title={words.payment.open}
        >
          <Icon name="expand" />
        </Link>
      }
    >
      <PaymentView merchantId={merchantId} id={id} />
    </Modal>
  );
};
