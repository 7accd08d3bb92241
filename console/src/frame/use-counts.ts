/** How much waits for a person in each section, so that the navigation shows it. */
import { useEffect } from 'react';
import { Counts } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useLive } from '../graph/live.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission, useViewer } from '../viewer.tsx';

/** How soon it is read again. */
const poll_ms = 30_000;

interface Listed {
  readonly nodes: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** The count of a list, as `20+` when it is longer than was read; undefined when it is empty. */
const textOf = (listed: Listed | null | undefined): string | undefined => {
  if (!listed || listed.nodes.length === 0) return undefined;
  return `${listed.nodes.length}${listed.pageInfo.hasNextPage ? '+' : ''}`;
};

/** The counts by section. */
export const useCounts = () => {
  const { merchantId } = useAddress();
  const own = useViewer().merchantId;
  const { granted: platform } = usePermission('alerts');
  const { epoch } = useLive();
  const { data, again } = useAsk(Counts, { merchantId: own ?? merchantId, platform });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, poll_ms);
    return () => clearInterval(timer);
  }, [again]);
  useEffect(() => {
    if (epoch > 0) again();
  }, [epoch, again]);
  return {
    alerts: textOf(data?.alerts),
    webhooks: textOf(data?.webhookDeliveries),
    reconciliation: textOf(data?.reconciliationDifferences),
  };
};
