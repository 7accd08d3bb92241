/** The items that need attention, the most urgent and newest first, with links and actions. */
import { Link } from '@tanstack/react-router';
import { useRef, useState, type ReactNode } from 'react';
import {
  Needed,
  PaymentsCount,
  type DraftRowFragment,
  type RefundDraftRowFragment,
} from '../../../schema/generated/console.ts';
import {
  AlertBehind,
  SubjectLink,
  ResolveDialog as ResolveAlertDialog,
  useAssign,
} from '../alerts/alert.tsx';
import { kept, useAddress } from '../address.ts';
import { money } from '../amounts.ts';
import { wholeNumber } from '../format.ts';
import { ActButton, useOpened } from '../parts/act-form.tsx';
import { Failure } from '../parts/states.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useMerchantNames, useWhose } from '../parts/whose.tsx';
import { useFollow, type Followed } from '../parts/use-follow.ts';
import { DraftActs } from '../payouts/draft-acts.tsx';
import { recipientText } from '../payouts/recipient.tsx';
import { RefundDraftActs } from '../refunds/draft-acts.tsx';
import { DetailOf, ResolveDialog } from '../reconciliation/differences.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { failedSince, ReplayDialog } from '../webhooks/replay.tsx';
import { useAlertWords } from '../words/alerts.ts';
import { useNeededWords } from '../words/reports.ts';
import { useReconciliationWords } from '../words/reconciliation.ts';
import { useWords } from '../words/words.ts';
import {
  neededLines,
  ownerOf,
  type FailedEndpoint,
  type NeededAlert,
  type NeededLine,
} from './needed-lines.ts';

const followed: Followed = {
  lists: [
    'alerts',
    'payout_drafts',
    'refund_drafts',
    'reconciliation_differences',
    'webhook_failures',
  ],
};

interface LineProps {
  /** The merchant's name, where lines of several are listed. */
  readonly whose: string;
  readonly at: string;
  readonly place: ReactNode;
  readonly text: string;
  /** What was found. */
  readonly detail?: ReactNode;
  readonly children: ReactNode;
}

const Line = ({ whose, at, place, text, detail, children }: LineProps) => (
  <li>
    <span className="stack">
      {place}
      {whose !== '' && <span className="quiet">{whose}</span>}
      {text !== '' && <span className="quiet wrap">{text}</span>}
      {detail}
    </span>
    <Moment at={at} />
    <div className="acts">{children}</div>
  </li>
);

/** The list is frozen while one of its dialogs is open, so that the result can be read. */
interface Again extends Pick<LineProps, 'whose'> {
  readonly again: () => void;
  readonly hold: (isHeld: boolean) => void;
}

const AlertActs = ({ alert, ...list }: Again & { readonly alert: NeededAlert }) => {
  const words = useWords();
  const own = useNeededWords();
  const { subject } = useViewer();
  const { opened, open, close } = useOpened(list.again, list.hold);
  const [message, setMessage] = useState('');
  const assign = useAssign(alert);
  const take = async (): Promise<void> => {
    setMessage(await assign(subject));
    list.again();
  };
  return (
    <>
      {alert.assignee === null && (
        <ActButton permission="alertAssign" onPress={() => void take()}>
          {own.take}
        </ActButton>
      )}
      <ActButton permission="alertResolve" onPress={() => open(true)}>
        {words.alert.resolve}
      </ActButton>
      <span role="status">{message}</span>
      {opened && <ResolveAlertDialog alert={alert} close={close} />}
    </>
  );
};

const AlertLine = ({ alert, ...list }: Again & { readonly alert: NeededAlert }) => {
  const words = useWords();
  const own = useNeededWords();
  const { sentences } = useAlertWords();
  const { search } = useAddress();
  const { kind, severity, assignee, raisedAt } = alert;
  const place = (
    <Link to="/alerts" search={{ ...kept(search), severity, ...(assignee ? { assignee } : {}) }}>
      {words.alert.kinds[kind]}
    </Link>
  );
  const text = assignee ? `${own.yours} · ${sentences[kind]}` : sentences[kind];
  return (
    <Line
      whose={list.whose}
      at={raisedAt}
      place={place}
      text={text}
      detail={<AlertBehind alert={alert} />}
    >
      <SubjectLink alert={alert} />
      <AlertActs alert={alert} {...list} />
    </Line>
  );
};

const WebhooksLine = ({ failed, ...list }: Again & { readonly failed: FailedEndpoint }) => {
  const { locale } = useWords();
  const own = useNeededWords();
  const { search } = useAddress();
  const { opened, open, close } = useOpened(list.again, list.hold);
  const { merchantId, endpointId, url, oldestAt, count } = failed;
  const place = (
    <Link
      to="/webhooks"
      search={{ ...kept(search), merchant: merchantId, status: 'failed', since: oldestAt }}
    >
      {own.webhooks(wholeNumber(count.count, locale) + (count.isExact ? '' : '+'))}
    </Link>
  );
  return (
    <Line whose={list.whose} at={oldestAt} place={place} text={url}>
      {endpointId !== null && (
        <ActButton permission="webhookDeliveriesResendFailed" onPress={() => open(true)}>
          {own.replay}
        </ActButton>
      )}
      {opened && (
        <ReplayDialog
          merchantId={merchantId}
          endpointId={endpointId}
          from={oldestAt}
          close={close}
        />
      )}
    </Line>
  );
};

const DraftLine = ({ draft, whose, ...list }: Again & { readonly draft: DraftRowFragment }) => {
  const { locale } = useWords();
  const own = useNeededWords();
  const { search } = useAddress();
  const { merchantId, amount, currency, reason } = draft;
  const place = (
    <Link
      to="/payouts"
      search={{ ...kept(search), merchant: merchantId, tab: 'drafts', status: 'pending' }}
    >
      {own.draft}: {money(amount, currency, locale)}
    </Link>
  );
  const text = [recipientText(draft), reason].filter(Boolean).join(' · ');
  return (
    <Line whose={whose} at={draft.createdAt} place={place} text={text}>
      <DraftActs draft={draft} {...list} />
    </Line>
  );
};

const RefundLine = ({
  draft,
  whose,
  ...list
}: Again & { readonly draft: RefundDraftRowFragment }) => {
  const { locale } = useWords();
  const own = useNeededWords();
  const { search } = useAddress();
  const { merchantId, amount, currency, payment, reason } = draft;
  const place = (
    <Link
      to="/refunds"
      search={{ ...kept(search), merchant: merchantId, tab: 'drafts', status: 'pending' }}
    >
      {own.refund}: {money(amount, currency, locale)}
    </Link>
  );
  const text = `${payment.orderId} · ${reason}`;
  return (
    <Line whose={whose} at={draft.createdAt} place={place} text={text}>
      <RefundDraftActs draft={draft} {...list} />
    </Line>
  );
};

const DifferenceLine = ({
  difference,
  ...list
}: Again & { readonly difference: (NeededLine & { kind: 'difference' })['difference'] }) => {
  const own = useNeededWords();
  const { kinds, resolve } = useReconciliationWords();
  const { search } = useAddress();
  const { opened, open, close } = useOpened(list.again, list.hold);
  const { kind, foundAt, runId } = difference;
  const place = (
    <Link to="/reconciliation" search={{ ...kept(search), code: runId }}>
      {own.difference(kinds[kind])}
    </Link>
  );
  return (
    <Line
      whose={list.whose}
      at={foundAt}
      place={place}
      text=""
      detail={<DetailOf row={difference} />}
    >
      <ActButton permission="reconciliationDifferenceResolve" onPress={() => open(true)}>
        {resolve(1)}
      </ActButton>
      {opened && <ResolveDialog rows={[difference]} close={close} />}
    </Line>
  );
};

const lineOf = (line: NeededLine, list: Again): ReactNode => {
  switch (line.kind) {
    case 'alert':
      return <AlertLine key={line.key} alert={line.alert} {...list} />;
    case 'webhooks':
      return <WebhooksLine key={line.key} failed={line.failed} {...list} />;
    case 'draft':
      return <DraftLine key={line.key} draft={line.draft} {...list} />;
    case 'refund':
      return <RefundLine key={line.key} draft={line.draft} {...list} />;
    case 'difference':
      return <DifferenceLine key={line.key} difference={line.difference} {...list} />;
  }
};

/** Held payments: no error, but the hold lapses unless it is captured. */
const Held = () => {
  const { locale } = useWords();
  const own = useNeededWords();
  const { search, mode, merchantId } = useAddress();
  const { data } = useAsk(PaymentsCount, {
    merchantId,
    status: ['authorized'],
    filter: { mode: [mode] },
  });
  const total = data?.payments.totalCount;
  if (!total || total.count === 0) return null;
  return (
    <Link className="held" to="/payments" search={{ ...kept(search), status: 'authorized' }}>
      {own.held(wholeNumber(total.count, locale) + (total.isExact ? '' : '+'))}
    </Link>
  );
};

const nothing = { lines: [], isCut: false } as const;

export const NeededList = () => {
  const { home } = useWords();
  const own = useNeededWords();
  const { merchantId, mode } = useAddress();
  const { subject } = useViewer();
  const platform = usePermission('alerts').granted;
  const decides = usePermission('payoutDraftApprove').granted;
  const decidesRefunds = usePermission('refundDraftApprove').granted;
  const { data, error, again } = useAsk(Needed, {
    merchantId,
    mode,
    me: subject,
    failedSince: failedSince(),
    platform,
    decides,
    decidesRefunds,
  });
  useFollow(again, followed);
  const [isHeld, hold] = useState(false);
  const shown = useRef(data);
  if (!isHeld) shown.current = data;
  const { lines, isCut } = shown.current ? neededLines(shown.current) : nothing;
  const isOfAll = useWhose() === null;
  const nameOf = useMerchantNames(isOfAll ? lines.map(ownerOf) : []);
  if (!shown.current) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  return (
    <>
      {lines.length === 0 ? (
        <p className="quiet">{own.quiet}</p>
      ) : (
        <ol className="needed" aria-label={home.hello}>
          {lines.map((line) =>
            lineOf(line, { again, hold, whose: isOfAll ? nameOf(ownerOf(line)) : '' }),
          )}
        </ol>
      )}
      {isCut && <p className="quiet">{own.more}</p>}
      <Held />
    </>
  );
};
