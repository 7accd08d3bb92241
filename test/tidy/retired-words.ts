/** Words that named parts of the design once, and that nobody outside this project would guess. */
import { parseSync, Visitor } from 'oxc-parser';

/** Each with what stands for it now. A ring of events is a buffer, and stays. */
export const retiredWords: Readonly<Record<string, string>> = {
  abreast: 'concurrently',
  bell: 'wake-up, signal',
  desk: 'console, fixture',
  ear: 'subscription',
  errand: 'request',
  hear: 'receive',
  mend: 'repair, correct, catch up',
  rung: 'woken',
  said: 'what it is: message, output, attributes',
  shopper: 'buyer',
  tell: 'publish, notify, report',
  timekeeper: 'clock participant',
};

const forms: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(retiredWords).map((word) => [word, word])),
  ...Object.fromEntries(
    ['bell', 'desk', 'ear', 'errand', 'hear', 'mend', 'shopper', 'tell', 'timekeeper'].map(
      (word) => [`${word}s`, word],
    ),
  ),
  heard: 'hear',
  hearing: 'hear',
  mended: 'mend',
  mending: 'mend',
  rang: 'rung',
  telling: 'tell',
  told: 'tell',
  untold: 'tell',
};

/** The words of a sentence or a name: `toldAt_ms` has three. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z]+(?:'[a-z]+)?/g) ?? [];

/** The retired words in the comments and the names of a TypeScript text, with their lines. */
export const retiredIn = (path: string, text: string): readonly string[] => {
  const { program, comments } = parseSync(path, text);
  const places = comments.map(({ value, start }) => ({ text: value, start }));
  const name = (node: { readonly name: string; readonly start: number }): void =>
    void places.push({ text: node.name, start: node.start });
  new Visitor({ Identifier: name, PrivateIdentifier: name }).visit(program);
  const lineOf = (start: number): number => text.slice(0, start).split('\n').length;
  return places.flatMap((place) =>
    wordsOf(place.text).flatMap((word) => {
      const retired = Object.hasOwn(forms, word) ? forms[word] : undefined;
      return retired === undefined
        ? []
        : [`line ${lineOf(place.start)}: "${word}" (${retiredWords[retired]})`];
    }),
  );
};
