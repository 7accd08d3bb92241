/** One payment, in a drawer or on its page: its facts, its money, its timeline and its actions. */
import { useMemo, useState, type ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { note_max_chars } from '../../../schema/limits.ts';
import { listOf, useAddress } from '../address.ts';
import { wholeNumber } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/fields.tsx';
import { ManyChips } from '../parts/filters.tsx';
import { OutcomeText, useRun } from '../parts/act-form.tsx';
import { ObjectDrawer, ObjectPage } from '../parts/modal.tsx';
import { send } from '../parts/outcome.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import {
  Money,
  Moment,
  Id,
  Facts,
  type Fact,
  CopyBlock,
  CustomerLink,
  type ObjectId,
} from '../parts/texts.tsx';
import { reloadScreen } from '../graph/live.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { WaitingRefunds } from '../refunds/drafts.tsx';
import { usePermission } from '../viewer.tsx';
import { customerWords as own } from '../words/customers.ts';
import { requestWords } from '../words/developers.ts';
import { sharedWords } from '../words/shared.ts';
import { timelineWords } from '../words/timeline.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import type { OfPayment } from './act-dialogs.tsx';
import { PaymentActs } from './acts.tsx';
import { ForBuyer } from './for-buyer.tsx';
import { methodText, PaymentStanding, type PaymentDetails } from './shown.tsx';
import { linesOf, type Line } from './timeline-lines.ts';

/** The text that an erasure of personal data leaves in place of a note. */
const erased = 'erased';

/** Writes a text once, however often it is sent. */
const useWriting = ({ merchantId, id }: PaymentDetails) => {
  const [text, setText] = useState('');
  const trimmed = text.trim();
  const key = useMemo(() => `note-${trimmed && crypto.randomUUID()}`, [trimmed]);
  const { isRunning, outcome, run } = useRun(async () => {
    const came = await send(graph.AddNote, { merchantId, id, text: trimmed, key }, '');
    if ('done' in came) setText('');
    reloadScreen();
    return came;
  });
  const fits = trimmed !== '' && Array.from(trimmed).length <= note_max_chars;
  return { text, setText, outcome, isReady: fits && !isRunning, write: run };
};

const NewNote = ({ payment }: OfPayment) => {
  const permission = usePermission('paymentNoteAdd');
  const { text, setText, outcome, isReady, write } = useWriting(payment);
  if (!permission.granted) return null;
  return (
    <div className="new-note">
      <TextField
        label={own.note}
        hint={own.noteHint(wholeNumber(note_max_chars))}
        rows={2}
        value={text}
        set={setText}
      />
      <Button isOff={!isReady} press={write}>
        {own.add}
      </Button>
      <div aria-live="polite">
        {outcome && !('done' in outcome) && <OutcomeText outcome={outcome} isRepeated={false} />}
      </div>
    </div>
  );
};

const Notes = ({ payment }: OfPayment) => (
  <section className="notes" aria-label={own.notes}>
    <h2>{own.notes}</h2>
    {payment.notes.length > 0 && (
      <ul>
        {payment.notes.map(({ id, author, createdAt, text }) => (
          <li key={id}>
            <p className="quiet line">
              <span>{author}</span> <Moment at={createdAt} />
            </p>
            <p className={text === erased ? 'quiet' : 'break'}>
              {text === erased ? own.erased : text}
            </p>
          </li>
        ))}
      </ul>
    )}
    <NewNote payment={payment} />
  </section>
);

const LineText = ({ line: { text, aside, at } }: { readonly line: Line }) => (
  <>
    <span className="break">
      {text} {aside !== '' && <span className="quiet">{aside}</span>}
    </span>
    <Moment at={at} />
  </>
);

/** A line that expands to its record as JSON; the text is made on expansion. */
const Raw = ({ head, record }: { readonly head: ReactNode; readonly record: unknown }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="raw" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="line">{head}</span>
      </summary>
      {isOpen && <CopyBlock text={JSON.stringify(record, null, 2)} />}
    </details>
  );
};

const LineOf = ({ line }: { readonly line: Line }) => {
  const { kind, tone, records } = line;
  return (
    <li data-tone={tone} data-kind={kind}>
      {records.length === 0 ? (
        <div className="line">
          <LineText line={line} />
        </div>
      ) : (
        <Raw head={<LineText line={line} />} record={records.length === 1 ? records[0] : records} />
      )}
    </li>
  );
};

const Timeline = ({ payment }: { readonly payment: PaymentDetails }) => {
  const { search } = useAddress();
  const lines = linesOf(payment);
  const chosen = listOf(search.kinds, keysOf(timelineWords.kinds));
  const shown = chosen.length === 0 ? lines : lines.filter(({ kind }) => chosen.includes(kind));
  return (
    <section>
      <h2>{timelineWords.title}</h2>
      <ManyChips
        field="kinds"
        label={sharedWords.show}
        all={timelineWords.all}
        names={timelineWords.kinds}
        countOf={(kind) => lines.filter((line) => line.kind === kind).length}
      />
      {shown.length === 0 && <p className="quiet">{timelineWords.nothing}</p>}
      <ol className="timeline">
        {shown.map((one, index) => (
          <LineOf key={`${one.at} ${one.kind} ${index}`} line={one} />
        ))}
      </ol>
    </section>
  );
};

const kept_ms = 7 * 86_400_000;

/** Whether a key made the payment, so lately that its call is still kept. */
const hasCall = ({ timeline, createdAt }: PaymentDetails): boolean =>
  Date.now() - Date.parse(createdAt) < kept_ms &&
  timeline.some(
    (one) => one.__typename === 'TimelineCreated' && one.by === 'key' && one.makerId !== null,
  );

const PaymentFacts = ({ payment }: { readonly payment: PaymentDetails }) => {
  const { payment: names, columns } = words;
  const { merchantId, shopId, mode, id } = payment;
  const customer = payment.metadata['customer_id'];
  const card = [payment.customerCardBrand, payment.customerCardMask, payment.customerCardHolder];
  const facts: readonly Fact[] = [
    [names.id, <Id key="id" id={id} whole />],
    [columns.payment, <Id key="public" id={payment.publicId} whole />],
    [columns.order, payment.orderId],
    [words.merchant, payment.merchant.name],
    [columns.shop, payment.shopName],
    [names.terminal, payment.terminalName],
    [columns.method, methodText(payment)],
    [words.payment.methods.cards, card.filter(Boolean).join(' ')],
    [names.phone, payment.customerPhoneMask],
    [names.payerBank, payment.customerPayerBank],
    [names.bank, payment.bankName],
    [names.rrn, payment.rrn],
    [words.columns.description, payment.description],
    [
      requestWords.madeBy,
      hasCall(payment) ? (
        <Link
          key="call"
          to="/developers"
          search={{ mode, merchant: merchantId, tab: 'requests', shop: shopId, of: id }}
        >
          {requestWords.creating}
        </Link>
      ) : null,
    ],
    [
      own.customer,
      customer === undefined ? null : (
        <CustomerLink key="customer" merchantId={merchantId} customer={customer} />
      ),
    ],
    [names.linkEnds, <Moment key="ends" at={payment.expiresAt} />],
    [
      names.captureBefore,
      payment.captureBefore === null ? null : <Moment key="before" at={payment.captureBefore} />,
    ],
  ];
  const pairs = Object.entries(payment.metadata);
  return (
    <section>
      <h2>{names.facts}</h2>
      <Facts facts={facts} />
      {pairs.length > 0 && (
        <details className="raw">
          <summary>{names.metadata}</summary>
          <pre tabIndex={0}>{JSON.stringify(payment.metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
};

/** The poll interval of a payment while something of it is in progress. */
const poll_ms = 4_000;

/** Calls of banks are recorded up to a second after a payment has ended. */
const recorded_ms = 3_000;

/** Whether a change without a stream event is still to come. */
const isUnderWay = ({
  status,
  finalizedAt,
  webhookDeliveries,
  receipts,
}: PaymentDetails): boolean =>
  status === 'processing' ||
  (finalizedAt !== null && Math.abs(Date.now() - Date.parse(finalizedAt)) < recorded_ms) ||
  webhookDeliveries.some((delivery) => delivery.status === 'pending') ||
  receipts.some((receipt) => receipt.status === 'pending');

/** Reloads on every event of the payment, and while something is in progress. */
const usePayment = (merchantId: string, id: string) => {
  const { data, error, again } = useAsk(graph.Payment, { merchantId, id });
  useFollow(again, {
    isAbout: (change) =>
      (change.kind === 'payment' && change.row.id === id) ||
      (change.kind === 'refund' && change.row.paymentId === id),
    every_ms: data?.payment && isUnderWay(data.payment) ? poll_ms : undefined,
  });
  return { data, error };
};

const Strip = ({ payment }: { readonly payment: PaymentDetails }) => {
  const { currency, status, fee, net } = payment;
  const left = payment.amountCaptured - payment.amountRefunded;
  const shown = (amount: number | null) =>
    amount === null ? null : <Money amount={amount} currency={currency} />;
  return (
    <Facts
      isStrip
      facts={[
        [words.payment.strip.ordered, shown(payment.amount)],
        [words.payment.strip.held, shown(payment.amountCapturable || null)],
        [words.payment.strip.captured, shown(payment.amountCaptured || null)],
        [words.payment.strip.fee, shown(fee)],
        [words.payment.strip.net, shown(net)],
        [words.payment.strip.refunded, shown(payment.amountRefunded || null)],
        [words.payment.strip.remaining, shown(status === 'succeeded' ? left : null)],
      ]}
    />
  );
};

const Head = ({ payment }: { readonly payment: PaymentDetails }) => (
  <header className="payment-head">
    <p className="amount">
      <Money amount={payment.amount} currency={payment.currency} />
    </p>
    <PaymentStanding payment={payment} />
    <p className="quiet line">
      {payment.shopName} · {payment.orderId} · {methodText(payment)} ·{' '}
      <Moment at={payment.createdAt} />
    </p>
  </header>
);

const View = ({ merchantId, id }: ObjectId) => {
  const { data, error } = usePayment(merchantId, id);
  if (!data) return <Waiting error={error} />;
  const { payment } = data;
  if (!payment) return <Empty title={words.payment.notFound} />;
  return (
    <article className="payment">
      <Head payment={payment} />
      <PaymentActs payment={payment} />
      {payment.lateSuccess && <p className="note">{words.payment.late}</p>}
      <Strip payment={payment} />
      {payment.status === 'succeeded' && <WaitingRefunds payment={payment} />}
      <ForBuyer payment={payment} />
      <Notes payment={payment} />
      <Timeline payment={payment} />
      <PaymentFacts payment={payment} />
    </article>
  );
};

export const OpenDrawer = () => (
  <ObjectDrawer name={words.columns.payment} page="/payments/$merchantId/$id" view={View} />
);

export const PaymentPage = () => <ObjectPage name={words.columns.payment} view={View} />;
