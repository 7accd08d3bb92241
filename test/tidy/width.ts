/**
 * Lines that are wider than the formatter's width although they could be broken. What cannot: a
 * string, a template, a regular expression, an address in a comment, and the first line of a test,
 * which the formatter keeps whole.
 */
import { Visitor, parseSync } from 'oxc-parser';
import formatter from '../../.oxfmtrc.json' with { type: 'json' };

export const columns_max = formatter.printWidth;

/** Where something that cannot be broken begins and ends in the text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

const tests = new Set(['test', 'describe', 'it', 'suite']);

const spansOf = (path: string, text: string): readonly Span[] => {
  const { program, comments } = parseSync(path, text);
  const spans: Span[] = [];
  const whole = ({ start, end }: Span): void => void spans.push({ start, end });
  new Visitor({
    Literal: (literal) => {
      if (typeof literal.value === 'string' || 'regex' in literal) whole(literal);
    },
    TemplateLiteral: whole,
    CallExpression: ({ callee, start, arguments: given }) => {
      const body = given.at(-1);
      if (callee.type !== 'Identifier' || !tests.has(callee.name)) return;
      if (body?.type === 'ArrowFunctionExpression') spans.push({ start, end: body.body.start + 1 });
    },
  }).visit(program);
  const addresses = comments.flatMap(({ start, end }) =>
    [...text.slice(start, end).matchAll(/\bhttps?:\/\/\S+/g)].map(({ index, 0: address }) => ({
      start: start + index,
      end: start + index + address.length,
    })),
  );
  // The punctuation behind it stays on its line.
  return [...spans, ...addresses].map(({ start, end }) => ({
    start,
    end: end + (/^[)\]};,]*/.exec(text.slice(end))?.[0].length ?? 0),
  }));
};

/** The numbers of the lines that are too wide. */
export const wideLines = (path: string, text: string): readonly number[] => {
  let offset = 0;
  const wide: { readonly number: number; readonly edge: number }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.length > columns_max) wide.push({ number: index + 1, edge: offset + columns_max });
    offset += line.length + 1;
  }
  if (wide.length === 0) return [];
  const spans = spansOf(path, text);
  return wide
    .filter(({ edge }) => !spans.some(({ start, end }) => start < edge && end > edge))
    .map(({ number }) => number);
};
