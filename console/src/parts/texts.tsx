/** Small texts: amounts, moments, ids, statuses, named facts. */
import { useEffect, useState, type ReactNode } from 'react';
import { exactMoment, shortId, shortMoment, utcMoment, money } from '../format.ts';
import { openStore } from '../store.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Link } from '@tanstack/react-router';

export const PageHead = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children?: ReactNode;
}) => (
  <header className="page-head">
    <h1>{name}</h1>
    {children}
  </header>
);

export const Money = ({
  amount,
  currency,
}: {
  readonly amount: number;
  readonly currency: string;
}) => <span className="money">{money(amount, currency)}</span>;

const clock = openStore(Date.now());
setInterval(() => clock.set(Date.now()), 15_000);

/** A new event may be ahead of the clock, which ticks now and then; it is not shown as future. */
const skew_ms = 30_000;
const nowFor = (at: string, now_ms: number): number => {
  const at_ms = Date.parse(at);
  return at_ms > now_ms && at_ms - now_ms < skew_ms ? at_ms : now_ms;
};

/** A moment: how long ago; the tooltip has it exactly, in the person's zone and in UTC. */
export const Moment = ({ at }: { readonly at: string }) => {
  const now_ms = clock.use();
  return (
    <time dateTime={at} title={`${exactMoment(at)}\n${utcMoment(at)}`}>
      {shortMoment(at, nowFor(at, now_ms))}
    </time>
  );
};

const useCopy = (): readonly [copied: boolean, copy: (text: string) => void] => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return [copied, copy];
};

/** An id, shortened in the middle; a click copies all of it. */
export const Id = ({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) => {
  const [copied, copy] = useCopy();
  return (
    <button
      type="button"
      className="id"
      title={id}
      onClick={(event) => {
        event.stopPropagation();
        copy(id);
      }}
    >
      <span>{whole ? id : shortId(id)}</span>
      <span className="unseen">{copied ? words.copied : words.copy}</span>
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  );
};

export const CopyBlock = ({ text }: { readonly text: string }) => {
  const [copied, copy] = useCopy();
  return (
    <div className="copy-block">
      <pre tabIndex={0}>{text}</pre>
      <Button press={() => copy(text)}>
        <Icon name={copied ? 'check' : 'copy'} />
        {copied ? words.copied : words.copy}
      </Button>
    </div>
  );
};

export type Fact = readonly [name: string, value: ReactNode];

const isKnown = ([, value]: Fact): boolean => value !== null && value !== '';

/** Named facts without the unknown ones, below each other or, as a strip, beside each other. */
export const Facts = ({
  facts,
  isStrip = false,
  isBusy,
}: {
  readonly facts: readonly Fact[];
  readonly isStrip?: boolean;
  readonly isBusy?: boolean;
}) => (
  <dl className={isStrip ? 'strip' : 'facts'} aria-busy={isBusy}>
    {facts.filter(isKnown).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

// A status as a word and a shape, so that it does not depend on colour.

/** What a status means for the money. */
export type Tone = 'good' | 'part' | 'bad' | 'moving' | 'waiting' | 'over';

const shapes: Readonly<Record<Tone, string>> = {
  good: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z',
  part: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM4 7v2h8V7z',
  bad: 'M3 1.5 8 6.5l5-5L14.5 3l-5 5 5 5-1.5 1.5-5-5-5 5L1.5 13l5-5-5-5z',
  moving: 'M8 1.5a6.5 6.5 0 1 0 0 13v-13zM8 1.5v2a4.5 4.5 0 0 1 0 9v2a6.5 6.5 0 0 0 0-13z',
  waiting: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 2a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  over: 'M1.5 6.75h13v2.5h-13z',
};

export const tones = {
  pending: 'waiting',
  processing: 'moving',
  authorized: 'moving',
  succeeded: 'good',
  delivered: 'good',
  registered: 'good',
  failed: 'bad',
  expired: 'over',
  cancelled: 'over',
  partly_refunded: 'part',
  refunded: 'over',
  active: 'good',
  past_due: 'bad',
  paused: 'waiting',
  paid: 'over',
  deactivated: 'over',
} as const satisfies Readonly<Record<string, Tone>>;

export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span className="status" data-tone={tone}>
    <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[tone]} fillRule="evenodd" />
    </svg>
    {children}
  </span>
);

export interface ObjectId {
  readonly merchantId: string;
  readonly id: string;
}

/** The way to the page of a payment, or of a payout. */
export const ObjectLink = ({
  to = '/payments/$merchantId/$id',
  merchantId,
  id,
  ...link
}: ObjectId & {
  readonly to?: '/payments/$merchantId/$id' | '/payouts/$merchantId/$id';
  readonly className?: string;
  readonly title?: string;
  readonly children: ReactNode;
}) => <Link to={to} params={{ merchantId, id }} aria-label={link.title} {...link} />;

/* The way to everything of one customer. */

export interface OfCustomer {
  readonly merchantId: string;
  readonly customer: string;
}

export const CustomerLink = ({ merchantId, customer }: OfCustomer) => (
  <Link
    to="/customer"
    search={{ merchant: merchantId, customer }}
    onClick={(event) => event.stopPropagation()}
  >
    {customer}
  </Link>
);

const width = 120;
const height = 28;

/** The line: it repeats numbers on the page, so it is hidden from screen readers. */
export const Sparkline = ({ values }: { readonly values: readonly number[] }) => {
  const most = Math.max(...values, 1);
  const points = values.map(
    (value, place) =>
      `${((place / Math.max(values.length - 1, 1)) * width).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
};
