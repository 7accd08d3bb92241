/**
 * Names that come twice in one object of a JSON text. JSON.parse keeps the last of them and reports
 * nothing, so that two readers of the same bytes may see two amounts.
 */
import { repeatable } from '../../subgraphs/rules/texts.ts';

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

const quote = 0x22;
const backslash = 0x5c;

/** Where the string that begins at `from` ends: the place of its closing quote. */
const endOfString = (text: string, from: number): number => {
  let end = text.indexOf('"', from + 1);
  for (;;) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
};

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** The place of the first character from `from` on that is no space. */
const pastSpaces = (text: string, from: number): number => {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
};

const colon = 0x3a;

/** How many names of fields are written in a valid JSON text. */
const namesIn = (text: string): number => {
  let names = 0;
  for (let start = text.indexOf('"'); start >= 0;) {
    const behind = endOfString(text, start) + 1;
    if (text.charCodeAt(pastSpaces(text, behind)) === colon) names += 1;
    start = text.indexOf('"', behind);
  }
  return names;
};

/** How many fields the objects of a value have together. */
const fieldsOf = (value: unknown): number => {
  let fields = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    const items: unknown[] = Object.values(next);
    if (!Array.isArray(next)) fields += items.length;
    for (const item of items) if (typeof item === 'object') left.push(item);
  }
  return fields;
};

/** An object or a list whose end has not been seen. */
interface Open {
  /** Null: a list. */
  readonly names: Set<string> | null;
  /** The field or the place that is being read. */
  step: string | number;
}

/** Walks a valid JSON text up to the first name that its object has already. */
const findDuplicate = (text: string): readonly (string | number)[] | null => {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const inside = open.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      if (inside?.names && text.charCodeAt(pastSpaces(text, end + 1)) === colon) {
        const name = String(JSON.parse(text.slice(at, end + 1)));
        inside.step = name;
        if (inside.names.has(name)) return open.map(({ step }) => step);
        inside.names.add(name);
      }
      at = end;
    } else if (code === 0x7b) open.push({ names: new Set(), step: '' });
    else if (code === 0x5b) open.push({ names: null, step: 0 });
    else if (code === 0x7d || code === 0x5d) open.pop();
    else if (code === 0x2c && typeof inside?.step === 'number') inside.step += 1;
  }
  return null;
};

/**
 * The path to the first duplicate field; null if there is none. `value` is the result of
 * JSON.parse, in which a duplicate is one field, so a difference in the number of fields reveals it
 * without remembering names.
 */
export const duplicateField = (text: string, value: unknown): readonly (string | number)[] | null =>
  typeof value !== 'object' || value === null || namesIn(text) === fieldsOf(value)
    ? null
    : findDuplicate(text);

/** The mistake in a JSON text with a duplicate field; null without one. */
export const duplicateMistake = (text: string, value: unknown): string | null => {
  const twice = duplicateField(text, value);
  return twice && `${fieldAt(twice)}: expected once, got several`;
};
