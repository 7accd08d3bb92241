/** Tables of the guides that follow from the program's own lists, as Markdown. */
import {
  namedWebhookEvents,
  webhookEvents,
  type WebhookEvent,
} from '../../subgraphs/rules/event.ts';
import { failureCodes, type FailureCode } from '../../subgraphs/rules/failure-code.ts';
import { readContract } from '../read-contract.ts';
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
      `[\`${event}\`](#data-${event})${named.has(event) ? ' \\*' : ''}`,
      entries[event],
    ]),
  ]);
};

/** The fields of answers that contain an object or a list of them. */
const contents: ReadonlySet<string> = new Set(
  'payment payout receipt subscription card link items rates results'.split(' '),
);

/** Every call that answers with an envelope; those with the same fields stand in one row. */
const envelopes = (language: GuideLanguage): string => {
  const { heads } = texts[language];
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const rows = new Map<string, string[]>();
  for (const { method, path, responses } of readContract().operations.values()) {
    const names = Object.keys((responses['201'] ?? responses['200'])?.properties ?? {});
    const inside = names.filter((name) => contents.has(name));
    if (inside.length === 0 || names.includes('id')) continue;
    const beside = names.filter((name) => !contents.has(name));
    const row = `${code(inside)} | ${code(beside)}`;
    rows.set(row, [...(rows.get(row) ?? []), `${method} ${path.replace('/v1/public', '')}`]);
  }
  const body = [...rows].map(([row, calls]) => [code(calls), row]);
  return tableOf([[heads.call, heads.object, heads.beside], ...body]);
};

export const guideTables = { errors, failures, events, envelopes } as const;

/** Whether a table has the name. */
export const isGuideTable = (name: string): name is keyof typeof guideTables =>
  Object.hasOwn(guideTables, name);
