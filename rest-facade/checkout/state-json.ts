/**
 * The state of the page as page.js gets it: the Checkout, the page's regions drawn anew, and a
 * digest of both. An answer is drawn once, whatever is made of it.
 */
import { createHash } from 'node:crypto';
import type { Checkout } from './call-checkout.ts';
import { markupText } from './html.ts';
import { pageTitle, regionViews, type Regions } from './views/page.ts';
import type { Words } from './words/words.ts';

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** What a page shows. */
export interface Drawing {
  readonly title: string;
  readonly regions: Regions;
  /** The digest of what is shown: equal tags look equal. */
  readonly tag: string;
  /** The state as JSON. The page's clock is set by its `now`. */
  readonly json: () => string;
}

/** Draws what is shown; the time is not, so that a state stays the same while it passes. */
export const drawState = (checkout: Checkout, words: Words): Drawing => {
  const regions = regionViews(checkout, words);
  const { ribbon, summary, panel } = regions;
  const title = pageTitle(checkout, words);
  const { now, ...shown } = checkout;
  const texts = {
    ribbon: markupText(ribbon),
    summary: markupText(summary),
    panel: markupText(panel),
  };
  const state = JSON.stringify({ ...shown, title, regions: texts });
  const tag = digestOf(state);
  return {
    title,
    regions,
    tag,
    json: () => `${state.slice(0, -1)},${JSON.stringify({ tag, now }).slice(1)}`,
  };
};
