/** Counts the open items of each section for the navigation. */
import { Counts } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow, type Followed } from '../parts/use-follow.ts';
import { usePermission, useViewer } from '../viewer.tsx';

const followed: Followed = {
  lists: ['alerts', 'reconciliation_differences', 'webhook_failures'],
};

interface Listed {
  readonly nodes: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** The count of a list, as `20+` when it is longer than one page; undefined when it is empty. */
const textOf = (listed: Listed | null | undefined): string | undefined => {
  if (!listed || listed.nodes.length === 0) return undefined;
  return `${listed.nodes.length}${listed.pageInfo.hasNextPage ? '+' : ''}`;
};

/** The counts by section. */
export const useCounts = () => {
  const { merchantId, mode } = useAddress();
  const own = useViewer().merchantId;
  const { granted: platform } = usePermission('alerts');
  const { data, again } = useAsk(Counts, { merchantId: own ?? merchantId, mode, platform });
  useFollow(again, followed);
  return {
    alerts: textOf(data?.alerts),
    webhooks: textOf(data?.webhookDeliveries),
    reconciliation: textOf(data?.reconciliationDifferences),
  };
};
