/** The actions of a payout draft, in the list of drafts and on home. */
import { useState } from 'react';
import type { DraftRowFragment } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { usePermission } from '../viewer.tsx';
import { useDraftWords } from '../words/drafts.ts';
import { ApproveDialog, RejectDialog } from './draft-dialogs.tsx';

/** The buttons of a pending draft, and the dialog that is open. */
export const DraftActs = ({
  draft,
  again,
  hold,
}: {
  readonly draft: DraftRowFragment;
  readonly again: () => void;
  /** Called with true when a dialog opens, with false when it is closed. */
  readonly hold?: (isHeld: boolean) => void;
}) => {
  const own = useDraftWords();
  const [open, setOpen] = useState<'approve' | 'reject' | null>(null);
  const approve = usePermission('payoutDraftApprove');
  const reject = usePermission('payoutDraftReject');
  const show = (dialog: 'approve' | 'reject'): void => {
    hold?.(true);
    setOpen(dialog);
  };
  const close = (): void => {
    setOpen(null);
    hold?.(false);
    again();
  };
  // A decision by another person stays visible until the dialog is closed.
  if (draft.status !== 'pending' && open === null) return null;
  return (
    <div className="acts">
      <ActButton
        permission={approve}
        {...(draft.isMine ? { barred: own.own } : {})}
        isMain
        onPress={() => show('approve')}
      >
        {own.approve}
      </ActButton>
      <ActButton permission={reject} onPress={() => show('reject')}>
        {own.reject}
      </ActButton>
      {open === 'approve' && <ApproveDialog draft={draft} close={close} />}
      {open === 'reject' && <RejectDialog draft={draft} close={close} />}
    </div>
  );
};
