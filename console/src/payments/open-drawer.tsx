/** One payment over the list. */
import { Link } from '@tanstack/react-router';
import { kept, useAddress } from '../address.ts';
import { Icon } from '../parts/icon.tsx';
import { Modal } from '../parts/modal.tsx';
import { useWords } from '../words/words.ts';
import { PaymentView } from './payment.tsx';

/** The drawer. */
export const OpenDrawer = ({
  merchantId,
  id,
}: {
  readonly merchantId: string;
  readonly id: string;
}) => {
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
