/**
 * Request bodies as they were sent: a signature covers the bytes, and they are parsed only after
 * it. A field that comes twice and a number that is not written as an integer are mistakes.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { repeatable } from '../../subgraphs/rules/refusal.ts';
import { emptyBody } from '../callers/caller.ts';

/** A body that is JSON and says something wrong. The message may be sent to the caller. */
export class BodyMistake extends Error {
  readonly statusCode = 400;
}

type Done = (error: Error | null, value?: unknown) => void;

// Numbers of a JSON text as they were written. An integer is written as one, so `1.0` and `1e2` are
// not integers, although JSON.parse alone would make integers of them. No input of the graph or of
// REST takes any other number; a test reads the schema.

/** A text without the byte order mark before it (RFC 8259, 8.1: a parser may ignore it). */
export const withoutMark = (text: string): string =>
  text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text;

/**
 * Whether a text may have a number with a fraction, an exponent or 16 digits and more; seldom a text
 * that looks so.
 */
const mayBeInexact = (text: string): boolean =>
  /[:,[]\s*-?\d+(?:[.eE]|(?<=\d{16}))|^\s*-?\d/.test(text);

/** How a number was written, as JSON.parse tells a reviver. */
interface Written {
  readonly source?: string;
}

/**
 * For JSON.parse: a number that is not written as an integer becomes a symbol that holds how it was
 * written. No schema takes a symbol.
 */
const keepWritten = (_key: string, value: unknown, context?: Written): unknown => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? String(value);
  return /^-?\d+$/.test(source) ? value : Symbol(source);
};

const under = (path: string, name: string): string =>
  path === '' || name.startsWith('[') ? `${path}${name}` : `${path}.${name}`;

const expected = 'expected an integer without a fraction or an exponent';

/** A longer one may be a secret: it is not repeated. */
const shown_max_chars = 12;

/** The first number of a value that `keepWritten` has kept. */
const numberMistakeIn = (value: unknown): string | null => {
  let level: readonly (readonly [path: string, value: unknown])[] = [['', value]];
  // Level by level, since recursion could overflow the stack.
  while (level.length > 0) {
    const found = level.find(([, one]) => typeof one === 'symbol');
    if (found) {
      const written = (found[1] as symbol).description ?? '';
      const got = written.length <= shown_max_chars ? written : 'a longer number';
      return `${found[0]}: ${expected}, got ${got}`;
    }
    level = level.flatMap(([path, one]) =>
      typeof one === 'object' && one !== null
        ? Object.entries(one).map(([name, inside]): readonly [string, unknown] => [
            under(path, Array.isArray(one) ? `[${name}]` : nameOf(name)),
            inside,
          ])
        : [],
    );
  }
  return null;
};

/** The texts and the numbers of a JSON text, one after the other. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/**
 * The mistake in a JSON text with a number that is not written as an integer; null without one. It
 * names the place of the number, unless that is nested too deeply.
 */
export const numberMistake = (text: string): string | null => {
  if (!mayBeInexact(text)) return null;
  const isWritten = text.match(tokens)?.some((token) => /^-?\d+[.eE]/.test(token)) ?? false;
  if (!isWritten) return null;
  try {
    return numberMistakeIn(JSON.parse(text, keepWritten));
  } catch {
    return `a number: ${expected}`;
  }
};

// Names that come twice in one object of a JSON text. JSON.parse keeps the last of them and reports
// nothing, so that two readers of the same bytes may see two amounts.

/* How a message names a field of a body: never with a card number or a secret. */

/** A name as a message may repeat it. */
export const nameOf = (name: string): string =>
  repeatable(name) && /^[\w.-]+$/.test(name) ? name : 'a field with an unusual name';

/** The path to a field as mistakes show it. */
const fieldAt = (path: readonly (string | number)[]): string =>
  path
    .map((step, place) =>
      typeof step === 'number' ? `[${step}]` : `${place === 0 ? '' : '.'}${nameOf(step)}`,
    )
    .join('');

/** The texts of a JSON text, each with the colon behind a name, its brackets and its commas. */
const structure = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\],]/gs;

/** An object or a list whose end has not been seen. */
interface Open {
  /** Null: a list. */
  readonly names: Set<string> | null;
  /** The field or the place that is being read. */
  step: string | number;
}

/** The path to the first field of a valid JSON text that its object has already; null without one. */
export const duplicateField = (text: string): readonly (string | number)[] | null => {
  const open: Open[] = [];
  for (const [sign, written, colon] of text.matchAll(structure)) {
    const inside = open.at(-1);
    if (sign === '{') open.push({ names: new Set(), step: '' });
    else if (sign === '[') open.push({ names: null, step: 0 });
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && typeof inside?.step === 'number') inside.step += 1;
    else if (written !== undefined && colon !== undefined && inside?.names) {
      const name = String(JSON.parse(written));
      inside.step = name;
      if (inside.names.has(name)) return open.map(({ step }) => step);
      inside.names.add(name);
    }
  }
  return null;
};

/** The mistake in a JSON text with a duplicate field; null without one. */
const duplicateMistake = (text: string): string | null => {
  const twice = duplicateField(text);
  return twice && `${fieldAt(twice)}: expected once, got several`;
};

// Parses bytes of a REST call as JSON strictly: UTF-8, no duplicate fields, and numbers as they were
// written. `1.0`, `1e2` and numbers beyond 2^53-1 are not integers, although JSON.parse would make
// integers of them.

/**
 * The value, or the mistake in the bytes as a whole. A number that is not written as a safe integer
 * is a symbol that holds its text, and a text that no record can hold is one that says why: no
 * schema accepts a symbol, so validation refuses it at its place.
 */
type ReadBody = { readonly value: unknown } | { readonly mistake: string };

/**
 * A key or text that no record can hold: `__proto__`, NUL, half of a surrogate pair; escaped or
 * not.
 */
const maybeUnsafe = /__proto__|\\u00(?:00|5[fF])|\\u[dD][89a-fA-F]/;

class UnsafeName extends Error {}

const unsafeTexts = {
  nul: Symbol('a text with U+0000'),
  surrogate: Symbol('a text with an unpaired surrogate'),
};

/** Why no record can hold a text; null if one can. */
const unsafeIn = (text: string): symbol | null => {
  if (text.includes('\0')) return unsafeTexts.nul;
  return text.isWellFormed() ? null : unsafeTexts.surrogate;
};

const checkName = (name: string): void => {
  if (name === '__proto__') throw new UnsafeName('the name __proto__ is not allowed');
  const unsafe = unsafeIn(name)?.description;
  if (unsafe !== undefined) throw new UnsafeName(`${unsafe} is not allowed as a name`);
};

const exactly = (key: string, value: unknown, context?: { source?: string }): unknown => {
  checkName(key);
  if (typeof value === 'string') return unsafeIn(value) ?? value;
  const kept = keepWritten(key, value, context);
  return typeof kept === 'number' && !Number.isSafeInteger(kept)
    ? Symbol(context?.source ?? String(kept))
    : kept;
};

/**
 * Reads a body that is not empty. The slow way, which sees each number as it was written, is taken
 * only when the text may need it.
 */
export const readBody = (bytes: Buffer): ReadBody => {
  if (!isUtf8(bytes)) return { mistake: 'the body is not valid UTF-8' };
  const text = withoutMark(bytes.toString('utf8'));
  try {
    const careful = mayBeInexact(text) || maybeUnsafe.test(text);
    const value: unknown = careful ? JSON.parse(text, exactly) : JSON.parse(text);
    const mistake = duplicateMistake(text);
    return mistake === null ? { value } : { mistake };
  } catch (error) {
    // The parser's own message repeats the text, which may hold a card number.
    return {
      mistake:
        error instanceof UnsafeName ? `the body: ${error.message}` : 'the body is not valid JSON',
    };
  }
};

/** Opens the parser for a scope. It fails with the framework's error, or with BodyMistake. */
export const openJsonParser = (
  scope: FastifyInstance,
): ((request: FastifyRequest, text: string, done: Done) => void) => {
  const parse = scope.getDefaultJsonParser('error', 'error');
  return (request, sent, done) => {
    const text = withoutMark(sent);
    void parse(request, text, (error, value: unknown) => {
      const mistake = error ? null : (duplicateMistake(text) ?? numberMistake(text));
      if (mistake === null) done(error, value);
      else done(new BodyMistake(mistake));
    });
  };
};

export const bytesOf = ({ body }: Pick<FastifyRequest, 'body'>): Uint8Array =>
  Buffer.isBuffer(body) ? body : emptyBody;

/**
 * Whether a body is compressed. None is accepted: its size would have to be bounded twice, and a
 * signature covers other bytes.
 */
export const isCompressed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  !['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase());

/** The header of a 415 which states that no compression is accepted (RFC 9110, 15.5.16). */
export const identityOnly = { 'accept-encoding': 'identity' };

class CompressedBody extends Error {
  readonly statusCode = 415;
}

/**
 * Makes the scope keep bodies as bytes, for the types that the framework parses by itself. Returns
 * the function that parses one as the framework would; it rejects with the framework's error,
 * with BodyMistake, or with an error of status 415 when the body is compressed.
 */
export const takeRawBodies = (
  scope: FastifyInstance,
): ((request: FastifyRequest) => Promise<unknown>) => {
  const parseJson = openJsonParser(scope);
  for (const type of ['application/json', 'text/plain']) {
    if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
    scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    );
  }
  return (request) => {
    if (isCompressed(request)) return Promise.reject(new CompressedBody('a compressed body'));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const text = Buffer.isBuffer(request.body) ? request.body.toString() : null;
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
    if (text === null || !isJson) resolve(text ?? undefined);
    else parseJson(request, text, (error, value) => (error ? reject(error) : resolve(value)));
    return promise;
  };
};
