/** The items that need attention, the most urgent and newest first, with links and actions. */
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { AlertBehind, SubjectLink, assignAlert, resolveAct } from '../alerts/alert.tsx';
import { useAddress, type Search } from '../address.ts';
import { countText, money } from '../format.ts';
import { ActButton, actButton } from '../parts/act-form.tsx';
import { Waiting } from '../parts/states.tsx';
import { Moment } from '../parts/texts.tsx';
import { reloadScreen } from '../graph/live.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useMerchantNames, useWhose } from '../parts/whose.tsx';
import type { Followed } from '../parts/use-follow.ts';
import { DraftActs } from '../payouts/draft-acts.tsx';
import { recipientText } from '../payouts/recipient.tsx';
import { RefundDraftActs } from '../refunds/draft-acts.tsx';
import { DetailOf, ResolveDialog } from '../reconciliation/differences.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { failedSince, ReplayDialog } from '../webhooks/replay.tsx';
import { alertWords } from '../words/alerts.ts';
import { neededWords as own } from '../words/reports.ts';
import { reconciliationWords } from '../words/reconciliation.ts';
import { words } from '../words/words.ts';

type Alert = NonNullable<graph.NeededQuery['alerts']>['nodes'][number];
type Difference = NonNullable<graph.NeededQuery['reconciliationDifferences']>['nodes'][number];
type Draft = graph.DraftRowFragment | graph.RefundDraftRowFragment;
type FailedEndpoint = graph.NeededQuery['webhookFailures']['nodes'][number];

const follow: Followed = {
  lists: [
    'alerts',
    'payout_drafts',
    'refund_drafts',
    'reconciliation_differences',
    'webhook_failures',
  ],
};

interface NeededLine {
  readonly key: string;
  readonly at: string;
  /** The merchant that it is about; null: the platform. */
  readonly merchantId: string | null;
  readonly name: string;
  /** The list that has it, and its filters there. */
  readonly to: '/alerts' | '/webhooks' | '/payouts' | '/refunds' | '/reconciliation';
  readonly search: Search;
  readonly text?: string;
  readonly detail?: ReactNode;
  readonly acts: ReactNode;
}

const Line = ({
  line: { at, name, to, search, text = '', detail, acts },
  whose,
}: {
  readonly line: NeededLine;
  /** The merchant's name, where lines of several are listed. */
  readonly whose: string;
}) => (
  <li>
    <span className="stack">
      <Link to={to} search={search}>
        {name}
      </Link>
      {whose !== '' && <span className="quiet">{whose}</span>}
      {text !== '' && <span className="quiet wrap">{text}</span>}
      {detail}
    </span>
    <Moment at={at} />
    <div className="acts">{acts}</div>
  </li>
);

const AlertActs = ({ alert }: { readonly alert: Alert }) => {
  const { subject } = useViewer();
  const [message, setMessage] = useState('');
  const take = async (): Promise<void> => {
    setMessage(await assignAlert(alert, subject));
    reloadScreen();
  };
  return (
    <>
      {alert.assignee === null && (
        <ActButton permission="alertAssign" onPress={() => void take()}>
          {own.take}
        </ActButton>
      )}
      {actButton(resolveAct(alert))}
      <span role="status">{message}</span>
    </>
  );
};

/** Unassigned alerts and the person's own, without duplicates. */
const alertsIn = ({ mine, critical, alerts }: graph.NeededQuery): readonly Alert[] => {
  const all = [mine, critical, alerts].flatMap((list) => list?.nodes ?? []);
  return [...new Map(all.map((alert) => [alert.id, alert])).values()];
};

const lineOfAlert = (alert: Alert): NeededLine => {
  const { id, merchantId, kind, severity, assignee, raisedAt: at } = alert;
  const sentence = alertWords.sentences[kind];
  return {
    key: `alert ${id}`,
    at,
    merchantId,
    name: words.alert.kinds[kind],
    to: '/alerts',
    search: { severity, ...(assignee ? { assignee } : {}) },
    text: assignee ? `${own.yours} · ${sentence}` : sentence,
    detail: <AlertBehind alert={alert} />,
    acts: (
      <>
        <SubjectLink alert={alert} />
        <AlertActs alert={alert} />
      </>
    ),
  };
};

const lineOfEndpoint = (failed: FailedEndpoint): NeededLine => {
  const { merchantId, shopId, endpointId, url, oldestAt: at, count } = failed;
  return {
    key: `webhooks ${merchantId} ${shopId} ${endpointId ?? url}`,
    at,
    merchantId,
    name: own.webhooks(countText(count)),
    to: '/webhooks',
    search: { merchant: merchantId, status: 'failed', since: at },
    text: url,
    acts:
      endpointId !== null &&
      actButton({
        permission: 'webhookDeliveriesResendFailed',
        title: own.replay,
        dialog: <ReplayDialog {...{ merchantId, endpointId }} from={at} />,
      }),
  };
};

const lineOfDifference = (difference: Difference): NeededLine => ({
  key: `difference ${difference.id}`,
  at: difference.foundAt,
  merchantId: difference.merchantId,
  name: own.difference(reconciliationWords.kinds[difference.kind]),
  to: '/reconciliation',
  search: { code: difference.runId },
  detail: <DetailOf row={difference} />,
  acts: actButton({
    permission: 'reconciliationDifferenceResolve',
    title: reconciliationWords.resolve(1),
    dialog: <ResolveDialog rows={[difference]} />,
  }),
});

const lineOfDraft = (
  { id, merchantId, createdAt, amount, currency }: Draft,
  kind: 'draft' | 'refund',
  line: Pick<NeededLine, 'to' | 'text' | 'acts'>,
): NeededLine => ({
  key: `${kind} ${id}`,
  at: createdAt,
  merchantId,
  name: `${own[kind]}: ${money(amount, currency)}`,
  search: { merchant: merchantId, tab: 'drafts', status: 'pending' },
  ...line,
});

const newestFirst = (lines: readonly NeededLine[]): readonly NeededLine[] =>
  lines.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));

const lines_max = 20;

/** The items as one list, critical ones first, then the newest; and whether there are more. */
const neededLines = (data: graph.NeededQuery) => {
  const { mine, alerts, reconciliationDifferences, webhookFailures } = data;
  const { payoutDrafts, refundDrafts } = data;
  const lists = [mine, alerts, reconciliationDifferences, payoutDrafts, refundDrafts];
  const { critical = [], warning = [] } = Object.groupBy(
    alertsIn(data),
    ({ severity }) => severity,
  );
  const lines = [
    ...newestFirst(critical.map(lineOfAlert)),
    ...newestFirst([
      ...warning.map(lineOfAlert),
      ...webhookFailures.nodes.map(lineOfEndpoint),
      ...(reconciliationDifferences?.nodes ?? []).map(lineOfDifference),
      ...(payoutDrafts?.nodes ?? []).map((draft) =>
        lineOfDraft(draft, 'draft', {
          to: '/payouts',
          text: [recipientText(draft), draft.reason].filter(Boolean).join(' · '),
          acts: <DraftActs draft={draft} />,
        }),
      ),
      ...(refundDrafts?.nodes ?? []).map((draft) =>
        lineOfDraft(draft, 'refund', {
          to: '/refunds',
          text: `${draft.payment.orderId} · ${draft.reason}`,
          acts: <RefundDraftActs draft={draft} />,
        }),
      ),
    ]),
  ];
  const isCut =
    lines.length > lines_max ||
    webhookFailures.hasMore ||
    lists.some((list) => list?.pageInfo.hasNextPage === true);
  return { lines: lines.slice(0, lines_max), isCut };
};

/** Held payments: no error, but the hold lapses unless it is captured. */
const Held = () => {
  const { mode, merchantId } = useAddress();
  const { data } = useAsk(graph.PaymentsCount, {
    merchantId,
    status: ['authorized'],
    filter: { mode: [mode] },
  });
  const total = data?.payments.totalCount;
  if (!total || total.count === 0) return null;
  return (
    <Link className="held" to="/payments" search={{ status: 'authorized' }}>
      {own.held(countText(total))}
    </Link>
  );
};

const nothing = { lines: [], isCut: false } as const;

export const NeededList = () => {
  const { merchantId, mode } = useAddress();
  const { subject } = useViewer();
  const platform = usePermission('alerts').granted;
  const decides = usePermission('payoutDraftApprove').granted;
  const decidesRefunds = usePermission('refundDraftApprove').granted;
  const asked = {
    merchantId,
    mode,
    me: subject,
    failedSince: failedSince(),
    platform,
    decides,
    decidesRefunds,
  };
  const { data, error } = useAsk(graph.Needed, asked, { follow });
  const { lines, isCut } = data ? neededLines(data) : nothing;
  const isOfAll = useWhose() === null;
  const nameOf = useMerchantNames(isOfAll ? lines.map((line) => line.merchantId) : []);
  if (!data) return <Waiting error={error} />;
  return (
    <>
      {lines.length === 0 ? (
        <p className="quiet">{own.quiet}</p>
      ) : (
        <ol className="needed" aria-label={words.home.hello}>
          {lines.map((line) => (
            <Line key={line.key} line={line} whose={isOfAll ? nameOf(line.merchantId) : ''} />
          ))}
        </ol>
      )}
      {isCut && <p className="quiet">{own.more}</p>}
      <Held />
    </>
  );
};
