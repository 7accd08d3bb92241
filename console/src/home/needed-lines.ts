/** The items that need attention as one list, oldest first, up to a limit. */
import type { DraftRowFragment, NeededQuery } from '../../../schema/generated/console.ts';

export type NeededAlert = NonNullable<NeededQuery['alerts']>['nodes'][number];
type Difference = NonNullable<NeededQuery['reconciliationDifferences']>['nodes'][number];
export type FailedEndpoint = NeededQuery['webhookFailures']['nodes'][number];

export type NeededLine = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'alert'; readonly alert: NeededAlert }
  | { readonly kind: 'difference'; readonly difference: Difference }
  | { readonly kind: 'webhooks'; readonly failed: FailedEndpoint }
  | { readonly kind: 'draft'; readonly draft: DraftRowFragment }
);

const lines_max = 20;

/** Failed deliveries, counted by shop and address. */
const failedLines = ({ webhookFailures }: NeededQuery): readonly NeededLine[] =>
  webhookFailures.nodes.map((failed) => ({
    key: `webhooks ${failed.merchantId} ${failed.shopId} ${failed.endpointId ?? failed.url}`,
    at: failed.oldestAt,
    kind: 'webhooks',
    failed,
  }));

/** Unassigned alerts and the person's own, without duplicates. */
const openAlerts = ({ mine, alerts }: NeededQuery): readonly NeededLine[] => {
  const both = [...(mine?.nodes ?? []), ...(alerts?.nodes ?? [])];
  const byId = new Map(both.map((alert) => [alert.id, alert]));
  return [...byId.values()].map((alert) => ({
    key: `alert ${alert.id}`,
    at: alert.raisedAt,
    kind: 'alert',
    alert,
  }));
};

/** The lines, and whether there are more. */
export const neededLines = (
  data: NeededQuery,
): { readonly lines: readonly NeededLine[]; readonly isCut: boolean } => {
  const { mine, alerts, reconciliationDifferences, webhookFailures, payoutDrafts } = data;
  const lists = [mine, alerts, reconciliationDifferences, payoutDrafts];
  const lines: readonly NeededLine[] = [
    ...openAlerts(data),
    ...failedLines(data),
    ...(reconciliationDifferences?.nodes ?? []).map(
      (difference) =>
        ({
          key: `difference ${difference.id}`,
          at: difference.foundAt,
          kind: 'difference',
          difference,
        }) as const,
    ),
    ...(payoutDrafts?.nodes ?? []).map(
      (draft) => ({ key: `draft ${draft.id}`, at: draft.createdAt, kind: 'draft', draft }) as const,
    ),
  ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return {
    lines: lines.slice(0, lines_max),
    isCut:
      lines.length > lines_max ||
      webhookFailures.hasMore ||
      lists.some((list) => list?.pageInfo.hasPreviousPage === true),
  };
};
