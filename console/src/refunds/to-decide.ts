/** The number of proposed refunds that this person may decide. */
import { RefundDraftsToDecide } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';

/** Refunds proposed by others, in the selected mode and merchant. */
export const useRefundsToDecide = () => {
  const { mode, merchantId } = useAddress();
  const mayDecide = usePermission('refundDraftApprove').granted;
  const filter = { mode: [mode], isMine: false };
  const { data, again } = useAsk(RefundDraftsToDecide, { merchantId, filter }, !mayDecide);
  useFollow(again, { lists: ['refund_drafts'], isOn: mayDecide });
  const { count = 0, isExact = true } = data?.refundDrafts.totalCount ?? {};
  return { count, isExact };
};
