/** What happened to a payment as lines in order of time; what belongs together is one line. */
import { duration, money } from '../format.ts';
import { tones, type Tone } from '../parts/texts.tsx';
import { actionName } from '../words/audit.ts';
import { failureName } from '../words/failures.tsx';
import { timelineWords as own } from '../words/timeline.ts';
import { webhookWords } from '../words/webhooks.ts';
import { words } from '../words/words.ts';
import type { PaymentDetails } from './shown.tsx';

export interface Line {
  readonly kind: keyof typeof own.kinds;
  readonly at: string;
  readonly tone: Tone;
  readonly text: string;
  /** What stands behind the text, quieter. */
  readonly aside: string;
  /** As the graph gives them: nothing secret is in it. */
  readonly records: readonly object[];
  /** The delivery whose attempt failed. */
  readonly failedDelivery?: string;
}

type Entry = PaymentDetails['timeline'][number];
type Of<Name extends Entry['__typename']> = Extract<Entry, { readonly __typename: Name }>;
type Receipt = PaymentDetails['receipts'][number];

const bankTone = (answer: string): Tone => {
  if (answer === 'approved') return 'good';
  return answer === 'declined' || answer === 'threw' ? 'bad' : 'moving';
};

const bankLine = (entry: Of<'TimelineBankCall'>): Line => {
  const { at, connector, call, answer, failureCode, durationMs } = entry;
  const answered = [own.answers[answer] ?? answer, failureCode && failureName(failureCode)]
    .filter(Boolean)
    .join(', ');
  return {
    kind: 'bank',
    at,
    tone: bankTone(answer),
    text: `${connector}: ${own.calls[call] ?? call}, ${answered}`,
    aside: own.took(duration(durationMs)),
    records: [entry],
  };
};

const refundLine = (entry: Of<'TimelineRefund'>, currency: string) => {
  const amount = money(entry.amount, currency);
  const tone = { pending: 'moving', succeeded: 'good', failed: 'bad' } as const;
  return {
    kind: 'refund',
    at: entry.at,
    tone: tone[entry.refundStatus],
    text: own.refund(amount, words.refund.statuses[entry.refundStatus]),
    aside: entry.refund.reason ?? '',
    records: [entry],
  } satisfies Line;
};

const webhookLine = (entry: Of<'TimelineWebhookAttempt'>): Line => {
  const { delivery, attempt, at } = entry;
  const { status, fault } = attempt;
  const answer = status ?? (fault === null ? words.payment.noAnswer : webhookWords.faults[fault]);
  const time = duration(attempt.durationMs);
  const isTaken = attempt.status !== null && attempt.status < 300;
  return {
    kind: 'webhook',
    at,
    tone: isTaken ? 'good' : 'bad',
    ...(isTaken ? {} : { failedDelivery: delivery.id }),
    text: own.webhook(delivery.event.replace('_', '.'), String(answer)),
    aside: `${own.attempt(attempt.number)}, ${own.took(time)}`,
    records: [entry],
  };
};

const lineOf = (entry: Entry, currency: string): Line => {
  const { at } = entry;
  switch (entry.__typename) {
    case 'TimelineCreated': {
      const { by, keyPrefix, makerId } = entry;
      const name = by === 'key' ? keyPrefix && `${keyPrefix}…` : makerId;
      return {
        kind: 'status',
        at,
        tone: tones.pending,
        text: own.created[by],
        aside: name ?? '',
        records: [entry],
      };
    }
    case 'TimelinePageOpened':
      return { kind: 'status', at, tone: 'moving', text: own.opened, aside: '', records: [] };
    case 'TimelineStatus': {
      const { paymentStatus: status } = entry;
      const tone = tones[status];
      return { kind: 'status', at, tone, text: own.statuses[status], aside: '', records: [] };
    }
    case 'TimelineBankCall':
      return bankLine(entry);
    case 'TimelineRefund':
      return refundLine(entry, currency);
    case 'TimelineWebhookAttempt':
      return webhookLine(entry);
    case 'TimelinePosting': {
      const { type, amount, currency: booked } = entry.posting;
      const text = `${words.ledger.types[type]} ${money(amount, booked)}`;
      return { kind: 'money', at, tone: 'over', text, aside: '', records: [entry.posting] };
    }
    case 'TimelineAudit': {
      const { actor, action } = entry.audit;
      const text = `${actor}: ${actionName(action)}`;
      return { kind: 'person', at, tone: 'over', text, aside: '', records: [entry.audit] };
    }
  }
};

const receiptLines = (receipt: Receipt): readonly Line[] => {
  const { type, createdAt, registeredAt, status, failureReason } = receipt;
  const name = own.receiptTypes[type];
  const common = { kind: 'receipt', aside: '', records: [receipt] } as const;
  const isFailed = status === 'failed';
  const made: Line = {
    ...common,
    at: createdAt,
    tone: isFailed ? 'bad' : 'moving',
    text: isFailed ? own.receipts.failed(name) : own.receipts.made(name),
    aside: failureReason ?? '',
  };
  if (registeredAt === null) return [made];
  return [made, { ...common, at: registeredAt, tone: 'good', text: own.receipts.registered(name) }];
};

/**
 * The failed attempts of a delivery are one line, where the last of them was: a receiver that is
 * away for a day is asked many times, and other lines stand between.
 */
const withFewFailures = (lines: readonly Line[]): readonly Line[] => {
  const last = new Map<string, Line>();
  const attempts = Map.groupBy(lines, ({ failedDelivery }) => failedDelivery);
  for (const [delivery, failed] of attempts) {
    const end = failed.at(-1);
    if (delivery === undefined || !end) continue;
    const records = failed.flatMap((one) => one.records);
    const aside = failed.length > 1 ? own.failures(failed.length, end.aside) : end.aside;
    last.set(delivery, { ...end, aside, records });
  }
  return lines.flatMap((one) => {
    if (one.failedDelivery === undefined) return [one];
    const whole = last.get(one.failedDelivery);
    return whole && whole.records.at(-1) === one.records[0] ? [whole] : [];
  });
};

/** Movements of one moment are one booking; a question that is repeated is one line. */
const folded = (lines: readonly Line[]): readonly Line[] => {
  const groups: Line[][] = [];
  for (const one of lines) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const isSame =
      last?.kind === one.kind &&
      ((one.kind === 'money' && last.at === one.at) ||
        (one.kind === 'bank' && last.text === one.text));
    if (group && isSame) group.push(one);
    else groups.push([one]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const records = group.flatMap((one) => one.records);
    const text = group.map((one) => one.text).join(' · ');
    if (first.kind === 'money') return [{ ...first, text: own.booked(text), records }];
    const aside = group.length > 1 ? own.times(group.length) : first.aside;
    return [{ ...first, at: group.at(-1)?.at ?? first.at, aside, records }];
  });
};

/** The first status is the line of who made it. */
const isMaking = (entry: Entry): boolean =>
  entry.__typename === 'TimelineStatus' && entry.paymentStatus === 'pending';

export const linesOf = (payment: PaymentDetails): readonly Line[] => {
  const lines = [
    ...payment.timeline
      .filter((entry) => !isMaking(entry))
      .map((entry) => lineOf(entry, payment.currency)),
    ...payment.receipts.flatMap((receipt) => receiptLines(receipt)),
  ];
  const ordered = lines.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return folded(withFewFailures(ordered));
};
