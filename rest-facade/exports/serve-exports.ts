/**
 * `POST /console/exports`: a list of the console as CSV, with exactly the list's filters. The
 * list's own operation is run page by page, by keyset, no faster than the client reads, so that two
 * pages are in memory and no connection to the database waits. Who hangs up, logs out or is logged
 * out ends the export at once.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import * as v from 'valibot';
import {
  admitCaller,
  shownBy,
  takeToken,
  type AdmissionDeps,
} from '../../gateway/callers/admit-caller.ts';
import type { Authenticator } from '../../gateway/callers/authenticate.ts';
import type { Authenticated } from '../../gateway/callers/caller.ts';
import { openNamedQuota, openTurns, personName } from '../../gateway/callers/limits.ts';
import { presentError } from '../../gateway/graphql/errors.ts';
import { consoleOperation } from '../../gateway/graphql/read-document.ts';
import type { Supergraph } from '../../gateway/supergraph.ts';
import { decimalOf } from '../../schema/currencies.ts';
import type { Call, OperatorPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { textOfFile, whenClosed } from '../long-answers.ts';
import {
  addressBlocked,
  isErrorCode,
  rateExceeded,
  rateLimited,
  refuse,
  sendRefusal,
  type Refusal,
} from '../refusal-http.ts';
import {
  pageOf,
  planExport,
  type ExportPlan,
  type ListAnswer,
  type ExportColumn,
} from './plan-export.ts';

/*
 * Limits the concurrent exports of this process and decides whose page is read next. An export
 * reads one page at a time, so exports take turns.
 */

/** Exports of one person at the same time. */
const exportsPerPerson_max = 2;
/** Exports of all people of one merchant at the same time. */
const exportsPerMerchant_max = 4;
/** Pages of exports that are read concurrently; the rest of the process continues meanwhile. */
const pagesAtOnce_max = 2;
const exportRetry_s = 5;

const tooMany = (limit: number, whose: string): Refusal =>
  rateLimited(`at most ${limit} exports ${whose} at a time; wait until one ends`, exportRetry_s);

const openExportLimits = () => {
  const people = openNamedQuota(exportsPerPerson_max);
  const merchants = openNamedQuota(exportsPerMerchant_max);
  const inTurn = openTurns(pagesAtOnce_max);
  return {
    /** Takes a place; the answer gives it back. A refusal when there is none. */
    take: (person: OperatorPrincipal): (() => void) | Refusal => {
      const { merchantId } = person;
      const ofPerson = people.take(personName(person));
      if (!ofPerson) return tooMany(exportsPerPerson_max, 'of one person');
      const ofMerchant = merchantId === null ? () => {} : merchants.take(merchantId);
      if (!ofMerchant) {
        ofPerson();
        return tooMany(exportsPerMerchant_max, 'of one merchant');
      }
      return () => {
        ofPerson();
        ofMerchant();
      };
    },
    inTurn: <Result>(read: () => Promise<Result>) => inTurn('export', read),
  };
};
type ExportLimits = ReturnType<typeof openExportLimits>;

/** A page takes some ten milliseconds. */
const rowsPerPage = 200;
const body_max_bytes = 64 * 1_024;

interface ExportDeps extends Omit<AdmissionDeps, 'authenticator'> {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>;
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'isKnown' | 'checkRequest' | 'watch'>;
}

const asked = v.object({
  operation: v.string(),
  variables: v.record(v.string(), v.unknown()),
  /** In which language the file is read; English when it is absent. */
  language: v.optional(v.picklist(['en', 'ru'])),
});

interface Page {
  readonly text: string;
  readonly cursor: string | null;
}

type Person = Authenticated & { readonly principal: OperatorPrincipal };

const isPerson = (caller: Authenticated): caller is Person => caller.principal.kind === 'operator';

/** The requesting person, or the refusal. */
const admit = async (request: FastifyRequest, deps: ExportDeps): Promise<Person | Refusal> => {
  const caller = await admitCaller(shownBy(request.raw), deps, request.id);
  if (caller === null) return refuse('unavailable', 'the caller could not be looked up; try again');
  if ('blocked_s' in caller) return addressBlocked(caller.blocked_s);
  if (isRefusal(caller)) return refuse(caller.code, caller.message);
  if (!isPerson(caller))
    return refuse('scope_required', 'exports are for people; with a key, use the lists of the API');
  const token = await takeToken(caller, deps.limiter);
  return !token || token.taken.granted ? caller : rateExceeded(token.taken.retryAfter_s);
};

const refusalOf = ({ errors }: ExecutionResult): Refusal => {
  const error = errors?.[0] && presentError(errors[0].toJSON());
  const given = error?.extensions?.['code'];
  // The graph's code for lists that the role may not read.
  const code = given === 'forbidden' ? 'scope_required' : given;
  return error && isErrorCode(code) && code !== 'internal_error'
    ? refuse(code, error.message)
    : refuse('internal_error', 'something broke on our side; quote X-Request-Id to support');
};

// Rows as CSV for people (RFC 4180): the file begins with the mark by which spreadsheets know UTF-8,
// and a spreadsheet takes no text of it for a formula, whatever it takes for a separator.

const mark = '\uFEFF';
const lineEnd = '\r\n';

/** Spreadsheets in Russian write a comma in numbers, and expect this between fields. */
const separators = { en: ',', ru: ';' } as const;
const decimalPoints = { en: '.', ru: ',' } as const;
type ExportLanguage = keyof typeof separators;

/** Where a cell would begin, quoted or not, with what begins a formula, also in full width. */
const formula = /(^|[;,\t\r\n])(?=[" ]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

const quoted = (text: string): string =>
  `"${text.replaceAll(formula, "$1'").replaceAll('"', '""')}"`;

const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** A sum beyond 2^53-1 is a raw number. */
const integerOf = (value: unknown): bigint | null => {
  if (typeof value === 'number') return BigInt(value);
  return JSON.isRawJSON(value) ? BigInt(JSON.stringify(value)) : null;
};

/** An amount in its currency, as the language writes it; null for what is none. */
const amountCell = (value: unknown, currency: unknown, language: ExportLanguage): string | null => {
  const amount = integerOf(value);
  if (amount === null || typeof currency !== 'string') return null;
  return decimalOf(amount, currency).replace('.', decimalPoints[language]);
};

const cellOf = (value: unknown): string => {
  // Sums that may be beyond 2^53-1 are numbers in their text alone.
  const isText = value !== null && ['string', 'object'].includes(typeof value);
  if (!isText || JSON.isRawJSON(value)) return cellText(value);
  return quoted(Array.isArray(value) ? value.map(cellText).join(' ') : cellText(value));
};

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, unknown>>)[name]
        : null,
    row,
  );

export const csvWriter = (columns: readonly ExportColumn[], language: ExportLanguage) => {
  const lineOf = (cells: readonly string[]): string => cells.join(separators[language]) + lineEnd;
  const cellIn = (row: unknown, { path, currency }: ExportColumn): string => {
    const value = valueAt(row, path);
    const amount = currency && amountCell(value, valueAt(row, currency), language);
    return amount ?? cellOf(value);
  };
  return {
    /** The first line. */
    head: mark + lineOf(columns.map(({ name }) => name)),
    lines: (rows: readonly unknown[]): string =>
      rows.map((row) => lineOf(columns.map((column) => cellIn(row, column)))).join(''),
  };
};

/** What a file is made of. */
interface FileParts extends ExportDeps {
  readonly limits: ExportLimits;
  readonly plan: ExportPlan;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly writer: ReturnType<typeof csvWriter>;
}

const openPages = (call: Call, { plan, variables, supergraph, limits, writer }: FileParts) => {
  const { document, field } = plan;
  const { last: _, before: __, ...filters } = variables;
  return async (cursor: string | null): Promise<Page | Refusal> => {
    const page = { ...filters, first: rowsPerPage, after: cursor };
    const result = await limits.inTurn(() =>
      supergraph.execute({ document, variables: page }, call),
    );
    const found = result.data?.[field] as ListAnswer | null | undefined;
    if (result.errors || !found) return refusalOf(result);
    const { rows, after } = pageOf(found);
    return { text: writer.lines(rows), cursor: after };
  };
};

/** The plan of an operation of the console; null for what is no list of it. */
const planOf = (operation: string, { apiSchema }: ExportDeps['supergraph']): ExportPlan | null => {
  const text = consoleOperation(operation);
  return text === null ? null : planExport(apiSchema, text);
};

const sendFile = async (
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Person,
  parts: FileParts,
): Promise<FastifyReply> => {
  const release = parts.limits.take(caller.principal);
  if (typeof release !== 'function') return sendRefusal(reply, release);
  const lose = (): void => void reply.raw.destroy();
  const unwatch = parts.authenticator.watch(shownBy(request.raw), caller, lose, () => {});
  whenClosed(reply.raw, () => {
    release();
    unwatch();
  });
  const call = { principal: caller.principal, requestId: request.id, isInLane: true };
  const read = openPages(call, parts);
  const { field } = parts.plan;
  const first = await read(null);
  if ('code' in first) return sendRefusal(reply, first);
  parts.log.info({ subject: caller.principal.subject, list: field }, 'exporting a list');
  return reply
    .headers({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${field}.csv"`,
    })
    .send(
      Readable.from(
        textOfFile(parts.writer.head, first, ({ cursor }) => cursor, read),
        { objectMode: false },
      ),
    );
};

export const serveExports = (app: FastifyInstance, deps: ExportDeps): void => {
  const limits = openExportLimits();
  app.post(
    '/console/exports',
    { bodyLimit: body_max_bytes, config: { load: 'long-lived' } },
    async (request, reply) => {
      const caller = await admit(request, deps);
      if ('code' in caller) return sendRefusal(reply, caller);
      const { body } = request;
      const plan = v.is(asked, body) ? planOf(body.operation, deps.supergraph) : null;
      if (!plan || !v.is(asked, body))
        return sendRefusal(
          reply,
          refuse(
            'bad_request',
            'operation: expected one of the lists of the console, and variables',
          ),
        );
      return sendFile(request, reply, caller, {
        ...deps,
        limits,
        plan,
        variables: body.variables,
        writer: csvWriter(plan.columns, body.language ?? 'en'),
      });
    },
  );
};
