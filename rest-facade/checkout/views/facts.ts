/** Named facts of a page, and moments. */
import { html, type Html } from '../html.ts';
import { formatDay } from '../language.ts';
import type { Words } from '../words/en.ts';

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
