/** Pages with a message alone: an unknown address, a fault of ours. */
import { html } from '../html.ts';
import type { Assets } from '../serve-assets.ts';
import type { Words } from '../words/en.ts';
import { seals } from './icons.ts';
import { framedView } from './page.ts';

/**
 * A message page: the address is not ours (`unknownPage`), the service could not answer
 * (`brokenPage`), or the page was asked for too often (`busyPage`).
 */
export const messagePage = (
  message: 'unknownPage' | 'brokenPage' | 'busyPage',
  words: Words,
  assets: Assets,
): string => {
  const { title, text } = words[message];
  const isUnknown = message === 'unknownPage';
  const main = html`<main class="sheet sheet-message">
    <div class="outcome">
      ${isUnknown ? seals.lost : seals.none}
      <h1 class="panel-title">${title}</h1>
      <p class="panel-text">${text}</p>
      ${!isUnknown && html`<a class="primary" href=""><span class="primary-words">${words.tryAgain}</span></a>`}
    </div>
  </main>`;
  return framedView({ words, title, assets, kind: 'message', main });
};
