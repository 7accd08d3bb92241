/** How many drafts wait for this person to decide them. */
import { DraftsToDecide } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';

interface ToDecide {
  /** Undefined until it is known. */
  readonly count: number | undefined;
  readonly isExact: boolean;
  /** Whether the person may decide any. */
  readonly mayDecide: boolean;
}

/** Those that others have proposed, in the mode and of the merchant that are looked at. */
export const useDraftsToDecide = (): ToDecide => {
  const { mode, merchantId } = useAddress();
  const mayDecide = usePermission('payoutDraftApprove').granted;
  const filter = { mode: [mode], isMine: false };
  const { data, again } = useAsk(DraftsToDecide, { merchantId, filter }, !mayDecide);
  useFollow(again, { lists: ['payout_drafts'], isOn: mayDecide });
  const { count, isExact = true } = data?.payoutDrafts.totalCount ?? {};
  return { count, isExact, mayDecide };
};
