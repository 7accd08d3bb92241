/** Tables of the guides that follow from the program's own lists, as Markdown. */
import {
  namedWebhookEvents,
  webhookEvents,
  type WebhookEvent,
} from '../../subgraphs/kernel/rules/event.ts';
import { failureCodes, type FailureCode } from '../../subgraphs/kernel/rules/failure-code.ts';
import { refusalHttp, type ErrorCode } from '../refusal-http.ts';
import { english } from './errors/en.ts';
import { russian } from './errors/ru.ts';
import type { CodeTexts } from './errors/texts.ts';
import type { GuideLanguage } from './pages.ts';

const texts: Readonly<Record<GuideLanguage, CodeTexts>> = { en: english, ru: russian };

const tableOf = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
};

/** Every code of an error, by its HTTP status. */
const errors = (language: GuideLanguage): string => {
  const { heads, errors: entries } = texts[language];
  // Every code is a key of both.
  const codes = (Object.keys(refusalHttp) as ErrorCode[]).toSorted(
    (a, b) => refusalHttp[a].status - refusalHttp[b].status,
  );
  return tableOf([
    ['HTTP', heads.code, heads.cause, heads.cure],
    ...codes.map((code) => [String(refusalHttp[code].status), `\`${code}\``, ...entries[code]]),
  ]);
};

/** Every reason of a payment, refund or payout that failed. */
const failures = (language: GuideLanguage): string => {
  const { heads, kinds, failures: entries } = texts[language];
  const codes = Object.keys(failureCodes) as FailureCode[];
  return tableOf([
    [heads.code, heads.cause, heads.kind],
    ...codes.map((code) => [`\`${code}\``, entries[code], kinds[failureCodes[code]]]),
  ]);
};

/** Every webhook event; a star marks those that only endpoints get which name them. */
const events = (language: GuideLanguage): string => {
  const { heads, events: entries } = texts[language];
  const named: ReadonlySet<WebhookEvent> = new Set(namedWebhookEvents);
  return tableOf([
    [heads.event, heads.says],
    ...webhookEvents.map((event) => [
      `\`${event}\`${named.has(event) ? ' \\*' : ''}`,
      entries[event],
    ]),
  ]);
};

export const guideTables = { errors, failures, events } as const;

/** Whether a table has the name. */
export const isGuideTable = (name: string): name is keyof typeof guideTables =>
  Object.hasOwn(guideTables, name);
