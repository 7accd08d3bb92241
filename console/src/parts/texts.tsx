/** Small texts: amounts, moments, ids. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { money } from '../amounts.ts';
import { exactMoment, shortId, shortMoment, utcMoment } from '../format.ts';
import { useWords } from '../words/words.ts';
import { Icon } from './icon.tsx';

/** An amount in minor units. */
export const Money = ({
  amount,
  currency,
}: {
  readonly amount: number;
  readonly currency: string;
}) => {
  const { locale } = useWords();
  return <span className="money">{money(amount, currency, locale)}</span>;
};

const minute = {
  now_ms: Date.now(),
  listeners: new Set<() => void>(),
};
setInterval(() => {
  minute.now_ms = Date.now();
  for (const listener of minute.listeners) listener();
}, 15_000);

const subscribeMinute = (changed: () => void): (() => void) => {
  minute.listeners.add(changed);
  return () => void minute.listeners.delete(changed);
};

/** A new event may be ahead of the clock, which ticks every minute; it is not shown as future. */
const skew_ms = 30_000;
const nowFor = (at: string, now_ms: number): number => {
  const at_ms = Date.parse(at);
  return at_ms > now_ms && at_ms - now_ms < skew_ms ? at_ms : now_ms;
};

/** A moment: how long ago; the tooltip has it exactly, in the person's zone and in UTC. */
export const Moment = ({ at }: { readonly at: string }) => {
  const { locale } = useWords();
  const now_ms = useSyncExternalStore(subscribeMinute, () => minute.now_ms);
  return (
    <time dateTime={at} title={`${exactMoment(at, locale)}\n${utcMoment(at)}`}>
      {shortMoment(at, locale, nowFor(at, now_ms))}
    </time>
  );
};

/** Copies a text, with a short confirmation. */
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
  const words = useWords();
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

/** A text to copy: a command or a secret. */
export const CopyBlock = ({ text }: { readonly text: string }) => {
  const words = useWords();
  const [copied, copy] = useCopy();
  return (
    <div className="copy-block">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" className="button" onClick={() => copy(text)}>
        <Icon name={copied ? 'check' : 'copy'} />
        {copied ? words.copied : words.copy}
      </button>
    </div>
  );
};
