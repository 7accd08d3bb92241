/**
 * HTML that is escaped by construction, and the policy of the pages that are made of it. Only the `html` tag makes markup, its literals are written
 * here in the source, and whatever is put between them is escaped unless it is markup itself.
 */
import { formatDay } from './language.ts';
import type { Words } from './words/en.ts';

const markup = Symbol('markup');

/** A piece of markup that is safe to send. */
export interface Html {
  readonly [markup]: string;
}

/** The values of a template. Absent ones are omitted; lists are joined. */
export type Piece = string | number | Html | readonly Piece[] | null | undefined | false;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const textOfPiece = (piece: Piece): string => {
  if (piece === null || piece === undefined || piece === false) return '';
  if (typeof piece === 'string') return escaped(piece);
  if (typeof piece === 'number') return String(piece);
  if (markup in piece) return piece[markup];
  return piece.map(textOfPiece).join('');
};

/**
 * A template of markup. Throws on an attribute without quotes (`href=${address}`), where escaping
 * would not be enough: that is a mistake in the source, which the first test that renders it finds.
 */
export const html = (literals: TemplateStringsArray, ...pieces: readonly Piece[]): Html => {
  let text = literals[0] ?? '';
  for (const [index, piece] of pieces.entries()) {
    const before = literals[index] ?? '';
    if (/(?:^|\s)[\w-]*=$/.test(before))
      throw new Error(`an attribute needs quotes: ${before.slice(-40)}`);
    text += textOfPiece(piece) + (literals[index + 1] ?? '');
  }
  return { [markup]: text };
};

/** The markup as text, to be sent. */
export const markupText = (piece: Html): string => piece[markup];

/**
 * The address when it may stand in a link: http or https; else null, so that no other scheme is
 * ever followed.
 */
export const linkable = (address: string | null): string | null => {
  if (address === null) return null;
  // A path on this host: the simulated bank.
  if (/^\/(?!\/)/.test(address)) return address;
  const url = URL.parse(address);
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
};

/**
 * The content security policy of a page: scripts and everything else come from this service alone.
 * `changes` are directives that differ.
 */
export const contentPolicy = (changes: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'font-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    ...changes,
  })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');

/** A fact by its name; nothing where it is not known. */
export const fact = (name: string, value: Html | string | null, kind = ''): Html | false =>
  value !== null &&
  html`<div class="fact${kind && ` ${kind}`}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

export const time = (instant: string, text: string): Html =>
  html`<time datetime="${instant}">${text}</time>`;

export const day = (instant: string, words: Words): Html =>
  time(instant, formatDay(instant, words));
