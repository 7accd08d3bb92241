/** The actions of a payout draft, in the list of drafts and on home. */
import type { DraftRowFragment } from '../../../schema/generated/console.ts';
import { DecideActs } from '../parts/decide.tsx';
import { usePermission } from '../viewer.tsx';
import { useDraftWords } from '../words/drafts.ts';
import { ApproveDialog, RejectDialog } from './draft-dialogs.tsx';

/** The buttons of a pending draft, and the dialog that is open. */
export const DraftActs = ({
  draft,
  ...rest
}: {
  readonly draft: DraftRowFragment;
  readonly again: () => void;
  readonly hold?: (isHeld: boolean) => void;
}) => {
  const own = useDraftWords();
  const approve = usePermission('payoutDraftApprove');
  const reject = usePermission('payoutDraftReject');
  return (
    <DecideActs
      status={draft.status}
      own={own}
      approve={{
        permission: approve,
        barred: draft.isMine ? own.own : undefined,
        dialog: (close) => <ApproveDialog draft={draft} close={close} />,
      }}
      reject={{
        permission: reject,
        barred: undefined,
        dialog: (close) => <RejectDialog draft={draft} close={close} />,
      }}
      {...rest}
    />
  );
};
