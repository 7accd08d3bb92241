/**
 * The state of the page as page.js gets it: the Checkout, the page's regions drawn anew, and a
 * digest of both.
 */
import { createHash } from 'node:crypto';
import type { Checkout } from './call-checkout.ts';
import { markupText } from './html.ts';
import { pageTitle, regionViews } from './views/page.ts';
import type { Words } from './words/words.ts';

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** What is shown; the time is not, so that a state stays the same while it passes. */
const drawn = (checkout: Checkout, words: Words) => {
  const { ribbon, summary, panel } = regionViews(checkout, words);
  const regions = {
    ribbon: markupText(ribbon),
    summary: markupText(summary),
    panel: markupText(panel),
  };
  const { now: _, ...shown } = checkout;
  return { ...shown, title: pageTitle(checkout, words), regions };
};

/** The digest of what the page shows: equal tags look equal. */
export const stateTag = (checkout: Checkout, words: Words): string =>
  digestOf(JSON.stringify(drawn(checkout, words)));

/** The state as JSON, and its tag. The page's clock is set by its `now`. */
export const stateJson = (
  checkout: Checkout,
  words: Words,
): { readonly body: string; readonly tag: string } => {
  const state = drawn(checkout, words);
  const tag = digestOf(JSON.stringify(state));
  return { body: JSON.stringify({ ...state, tag, now: checkout.now }), tag };
};
