/**
 * SBP on a phone: the apps of the banks that most buyers have. page.js puts the one first that this
 * device paid with last.
 */
import { html, type Html } from '../html.ts';
import type { Language, Words } from '../words/words.ts';

interface LikelyBank {
  /** The id of the bank's member of SBP. */
  readonly id: string;
  readonly name: Readonly<Record<Language, string>>;
}

/** The most frequent first. */
export const likelyBanks: readonly LikelyBank[] = [
  { id: '100000000111', name: { ru: 'Сбербанк', en: 'Sberbank' } },
  { id: '100000000004', name: { ru: 'Т-Банк', en: 'T-Bank' } },
  { id: '110000000005', name: { ru: 'ВТБ', en: 'VTB' } },
  { id: '100000000008', name: { ru: 'Альфа-Банк', en: 'Alfa-Bank' } },
  { id: '100000000001', name: { ru: 'Газпромбанк', en: 'Gazprombank' } },
  { id: '100000000273', name: { ru: 'Озон Банк', en: 'Ozon Bank' } },
];

/** The hosts of SBP's links: of payments and of bindings. */
const sbpHosts = new Set(['qr.nspk.ru', 'sub.nspk.ru']);

/**
 * A link of SBP that opens in the app of one bank. The simulated bank is the same for all; null for
 * any other address, which chooses the app by itself.
 */
export const appLink = (address: string, bankId: string, test: boolean): string | null => {
  const url = URL.parse(address);
  if (url?.protocol === 'https:' && sbpHosts.has(url.host))
    return `bank${bankId}:${url.href.slice(url.protocol.length)}`;
  return test ? address : null;
};

/** The apps for a link of SBP, the most likely first; empty for an address that is none. */
export const bankLinks = (address: string, test: boolean, words: Words): readonly Html[] =>
  likelyBanks.flatMap(({ id, name }) => {
    const link = appLink(address, id, test);
    return link === null
      ? []
      : html`<li>
          <a class="secondary" href="${link}" data-bank="${id}">${name[words.language]}</a>
        </li>`;
  });
