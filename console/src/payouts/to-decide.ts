/** The number of drafts that this person may decide. */
import { DraftsToDecide } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';

interface ToDecide {
  /** Undefined until it is loaded. */
  readonly count: number | undefined;
  readonly isExact: boolean;
  /** Whether the person may decide any. */
  readonly mayDecide: boolean;
}

/** Drafts proposed by others, in the selected mode and merchant. */
export const useDraftsToDecide = (): ToDecide => {
  const { mode, merchantId } = useAddress();
  const mayDecide = usePermission('payoutDraftApprove').granted;
  const filter = { mode: [mode], isMine: false };
  const { data, again } = useAsk(DraftsToDecide, { merchantId, filter }, !mayDecide);
  useFollow(again, { lists: ['payout_drafts'], isOn: mayDecide });
  const { count, isExact = true } = data?.payoutDrafts.totalCount ?? {};
  return { count, isExact, mayDecide };
};
