/**
 * Numbers of a JSON text as they were written. An integer is written as one, so `1.0` and `1e2` are
 * not integers, although JSON.parse alone would make integers of them. No input of the graph or of
 * REST takes any other number; a test reads the schema.
 */

/** A text without the byte order mark before it (RFC 8259, 8.1: a parser may ignore it). */
export const withoutMark = (text: string): string =>
  text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text;

/**
 * Whether a text may have a number with a fraction, an exponent or 16 digits and more; seldom a text
 * that looks so.
 */
export const mayBeInexact = (text: string): boolean =>
  /[:,[]\s*-?\d+(?:[.eE]|(?<=\d{16}))|^\s*-?\d/.test(text);

/** How a number was written, as JSON.parse tells a reviver. */
interface Written {
  readonly source?: string;
}

/**
 * For JSON.parse: a number that is not written as an integer becomes a symbol that holds how it was
 * written. No schema takes a symbol.
 */
export const keepWritten = (_key: string, value: unknown, context?: Written): unknown => {
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
const mistakeIn = (value: unknown): string | null => {
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
            under(path, Array.isArray(one) ? `[${name}]` : name),
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
    return mistakeIn(JSON.parse(text, keepWritten));
  } catch {
    return `a number: ${expected}`;
  }
};
