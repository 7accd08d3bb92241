/** The items that need attention as one list, up to a limit: critical ones first, then the newest. */
import type {
  DraftRowFragment,
  NeededQuery,
  RefundDraftRowFragment,
} from '../../../schema/generated/console.ts';

export type NeededAlert = NonNullable<NeededQuery['alerts']>['nodes'][number];
type Difference = NonNullable<NeededQuery['reconciliationDifferences']>['nodes'][number];
export type FailedEndpoint = NeededQuery['webhookFailures']['nodes'][number];

export type NeededLine = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'alert'; readonly alert: NeededAlert }
  | { readonly kind: 'difference'; readonly difference: Difference }
  | { readonly kind: 'webhooks'; readonly failed: FailedEndpoint }
  | { readonly kind: 'draft'; readonly draft: DraftRowFragment }
  | { readonly kind: 'refund'; readonly draft: RefundDraftRowFragment }
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
const openAlerts = ({ mine, critical, alerts }: NeededQuery): readonly NeededLine[] => {
  const all = [mine, critical, alerts].flatMap((list) => list?.nodes ?? []);
  const byId = new Map(all.map((alert) => [alert.id, alert]));
  return [...byId.values()].map((alert) => ({
    key: `alert ${alert.id}`,
    at: alert.raisedAt,
    kind: 'alert',
    alert,
  }));
};

/** What comes before what is newer. */
const rankOf = (line: NeededLine): number =>
  line.kind === 'alert' && line.alert.severity === 'critical' ? 0 : 1;

/** The merchant that a line is about; null: the platform. */
export const ownerOf = (line: NeededLine): string | null => {
  switch (line.kind) {
    case 'alert':
      return line.alert.merchantId;
    case 'difference':
      return line.difference.merchantId;
    case 'webhooks':
      return line.failed.merchantId;
    case 'draft':
    case 'refund':
      return line.draft.merchantId;
  }
};

/** The lines, and whether there are more. */
export const neededLines = (
  data: NeededQuery,
): { readonly lines: readonly NeededLine[]; readonly isCut: boolean } => {
  const { mine, alerts, reconciliationDifferences, webhookFailures } = data;
  const { payoutDrafts, refundDrafts } = data;
  const lists = [mine, alerts, reconciliationDifferences, payoutDrafts, refundDrafts];
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
    ...(refundDrafts?.nodes ?? []).map(
      (draft) =>
        ({ key: `refund ${draft.id}`, at: draft.createdAt, kind: 'refund', draft }) as const,
    ),
  ].toSorted(
    (one, other) => rankOf(one) - rankOf(other) || Date.parse(other.at) - Date.parse(one.at),
  );
  return {
    lines: lines.slice(0, lines_max),
    isCut:
      lines.length > lines_max ||
      webhookFailures.hasMore ||
      lists.some((list) => list?.pageInfo.hasNextPage === true),
  };
};
