/** Drawings of the page, which decorate texts: screen readers skip them. And QR codes. */
import { LRUCache } from 'lru-cache';
import QRCode from 'qrcode';
import { html, type Html, type Piece } from '../html.ts';
import type { PayableMethod } from '../words/words.ts';

export const lock = html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  <path
    fill="currentColor"
    d="M8 1a3.5 3.5 0 0 0-3.5 3.5V6H4a1.5 1.5 0 0 0-1.5 1.5v6A1.5 1.5 0 0 0 4 15h8a1.5 1.5 0 0 0 1.5-1.5v-6A1.5 1.5 0 0 0 12 6h-.5V4.5A3.5 3.5 0 0 0 8 1Zm2 5H6V4.5a2 2 0 1 1 4 0V6Z"
  />
</svg>`;

const stroke = (color: string, width: string, line: string): Html =>
  html`<path
    fill="none"
    stroke="${color}"
    stroke-width="${width}"
    stroke-linecap="round"
    stroke-linejoin="round"
    d="${line}"
  />`;

export const arrow = html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  ${stroke('currentColor', '1.8', 'M3 8h10M9 4l4 4-4 4')}
</svg>`;

/** The link that leads the buyer on. */
export const onwards = (id: string, address: string, text: string, more: Piece = null): Html =>
  html`<a class="primary" id="${id}" href="${address}" ${more}
    ><span class="primary-words">${text}${arrow}</span></a
  >`;

export const printer = html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  <path
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linejoin="round"
    d="M4.5 6V2h7v4M4.5 12H2.75V6h10.5v6H11.5M4.5 9.5h7V14h-7Z"
  />
</svg>`;

export const spinner = html`<svg class="spinner" viewBox="0 0 24 24" aria-hidden="true">
  <circle class="spinner-track" cx="12" cy="12" r="10" />
  <circle class="spinner-head" cx="12" cy="12" r="10" pathLength="100" />
</svg>`;

const sbp = html`<svg class="mark" viewBox="-11 -2 120 124" aria-hidden="true">
  <path fill="#5b57a2" d="m0 26.1 14.5 26v15.8L0 93.9Z" />
  <path fill="#d90751" d="m55.8 42.6 13.6-8.3h27.9L55.8 59.7Z" />
  <path fill="#fab718" d="m55.7 26 .1 34.4-14.6-9V0l14.5 26Z" />
  <path fill="#ed6f26" d="M97.3 34.3H69.4L55.7 26 41.2 0Z" />
  <path fill="#63b22f" d="M55.8 94V77.3l-14.6-8.8V120Z" />
  <path fill="#1487c9" d="M69.4 85.7 14.5 52.1 0 26.1l97.2 59.6Z" />
  <path fill="#017f36" d="m41.2 120 14.6-26 13.6-8.3h27.8Z" />
  <path fill="#984995" d="m0 93.9 41.4-25.4L27.5 60l-13 7.9Z" />
</svg>`;

const cards = html`<svg class="mark" viewBox="0 0 40 40" aria-hidden="true">
  <rect x="4" y="9" width="32" height="22" rx="4" fill="var(--card-mark)" />
  <path fill="var(--card-stripe)" d="M4 14h32v5H4z" />
  <rect x="8" y="24" width="9" height="2.6" rx="1.3" fill="var(--card-stripe)" />
</svg>`;

const tpay = html`<svg class="mark" viewBox="0 0 40 40" aria-hidden="true">
  <rect x="4" y="4" width="32" height="32" rx="9" fill="#ffdd2d" />
  <path
    fill="#333"
    d="M12 13h16v5.2a7 7 0 0 0-5.2-1.5V24c0 1.7.7 2.5 2.2 3H15c1.5-.5 2.2-1.3 2.2-3v-7.3A7 7 0 0 0 12 18.2V13Z"
  />
</svg>`;

const sberpay = html`<svg class="mark" viewBox="0 0 40 40" aria-hidden="true">
  <rect x="4" y="4" width="32" height="32" rx="9" fill="#21a038" />
  ${stroke('#fff', '3', 'm14 19.5 5 3 8.5-5.2')}
  ${stroke('#fff', '2.4', 'M28.7 21.5A9 9 0 1 1 24.6 12.3')}
</svg>`;

/** The mark of a payment method. */
export const methodMarks: Readonly<Record<PayableMethod, Html>> = { sbp, cards, tpay, sberpay };

export const cardBrands = ['mir', 'visa', 'mastercard', 'unionpay'] as const;
export type CardBrand = (typeof cardBrands)[number];

/** The marks of card brands, all of one size. */
export const brandMarks: Readonly<Record<CardBrand, Html>> = {
  mir: html`<svg class="brand" viewBox="0 0 48 30" aria-hidden="true">
    <rect width="48" height="30" rx="5" fill="#0f754e" />
    <path
      fill="#fff"
      d="M7 20.5V10h3.1l2.1 4.6 2.1-4.6h3.1v10.5h-2.9v-5.7l-1.6 3.4h-1.4l-1.6-3.4v5.7Zm12.5 0V10h2.9v6l3-6h3.3v10.5h-2.9v-6l-3 6ZM31 20.5v-6.3h2.9v2h6.8a4.6 4.6 0 0 1-4.3 3h-2.5v1.3Z"
    />
    <path fill="#7fd0f5" d="M31 10h6.2c2.2 0 3.8 1.7 3.7 4.1h-6.3A4 4 0 0 1 31 10Z" />
  </svg>`,
  visa: html`<svg class="brand" viewBox="0 0 48 30" aria-hidden="true">
    <rect width="48" height="30" rx="5" fill="#1a1f71" />
    <path
      fill="#fff"
      d="m18.2 20.5 1.7-10.3h2.7l-1.7 10.3Zm-2-10.3-2.6 7.1-.3-1.5-.9-4.6s-.1-1-1.3-1H6.9l-.1.2s1.3.3 2.8 1.2l2.3 9.1h2.9l4.3-10.5ZM38 20.5h2.5l-2.2-10.3h-2.2c-1 0-1.2.8-1.2.8l-4 9.5h2.8l.6-1.6h3.4Zm-2.9-3.7 1.4-3.9.8 3.9Zm-4-4.1.4-2.3s-1.2-.4-2.4-.4c-1.3 0-4.5.6-4.5 3.4 0 2.6 3.7 2.7 3.7 4.1 0 1.3-3.3 1.1-4.4.2l-.4 2.4s1.2.6 3 .6 4.6-1 4.6-3.5c0-2.7-3.7-2.9-3.7-4.1s2.6-1 3.7-.4Z"
    />
  </svg>`,
  mastercard: html`<svg class="brand" viewBox="0 0 48 30" aria-hidden="true">
    <rect width="48" height="30" rx="5" fill="#252a33" />
    <circle cx="19" cy="15" r="8.5" fill="#eb001b" />
    <circle cx="29" cy="15" r="8.5" fill="#f79e1b" />
    <path fill="#ff5f00" d="M24 8.1a8.5 8.5 0 0 1 0 13.8 8.5 8.5 0 0 1 0-13.8Z" />
  </svg>`,
  unionpay: html`<svg class="brand" viewBox="0 0 48 30" aria-hidden="true">
    <rect width="48" height="30" rx="5" fill="#e8ecef" />
    <path
      fill="#d9222a"
      d="M11.5 4h9.2l-4.7 22H6.8c-1.5 0-2.4-1.2-2-2.7l3.6-16.6C8.8 5.2 10 4 11.5 4Z"
    />
    <path fill="#0c4f92" d="M20 4h10.7L26 26H15.3Z" />
    <path
      fill="#007b84"
      d="M30 4h11.2c1.5 0 2.4 1.2 2 2.7l-3.6 16.6c-.4 1.5-1.6 2.7-3.1 2.7H25.3Z"
    />
  </svg>`,
};

const seal = (tone: string, line: string): Html =>
  html`<svg class="seal ${tone}" viewBox="0 0 72 72" aria-hidden="true">
    <circle class="seal-disc" cx="36" cy="36" r="34" />
    <path class="seal-line" pathLength="100" d="${line}" />
  </svg>`;

/** The seals over a final state. */
export const seals = {
  good: seal('good', 'm22 37 10 10 19-21'),
  bad: seal('bad', 'm26 26 20 20M46 26 26 46'),
  late: seal('quiet', 'M36 20v17l11 7'),
  none: seal('quiet', 'M23 36h26'),
  back: seal('quiet', 'M28 22 19 31l9 9M20 31h20a10 10 0 0 1 0 20h-8'),
  lost: seal('quiet', 'M28 29a8 8 0 1 1 11 7.5c-2 .9-3 2.3-3 4.5v1M36 50v.2'),
} as const;

// QR codes as inline SVG: no image request, sharp at any size.

/** Light modules around the code, which scanners need. */
const quietModules = 3;

interface Code {
  readonly side: number;
  /** A line, one module wide, for each run of dark modules in a row. */
  readonly path: string;
}

/**
 * One segment of bytes under a set mask: looking for the shortest segments and the best of eight
 * masks takes ten times as long, and scanners read every mask.
 */
const makeCode = (content: string): Code => {
  const { modules } = QRCode.create([{ data: Buffer.from(content), mode: 'byte' }], {
    errorCorrectionLevel: 'M',
    maskPattern: 3,
  });
  const side = modules.size + 2 * quietModules;
  const rows: string[] = [];
  for (let y = 0; y < modules.size; y += 1) {
    for (let x = 0; x < modules.size; x += 1) {
      const start = x;
      while (x < modules.size && modules.get(y, x)) x += 1;
      if (x > start) rows.push(`M${start + quietModules} ${y + quietModules + 0.5}h${x - start}`);
    }
  }
  return { side, path: rows.join('') };
};

/** A code takes longer to make than the rest of its page, and its page is drawn several times. */
const codes = new LRUCache<string, Code>({ max: 200, memoMethod: makeCode });

/**
 * The code that holds `content`; `label` is what a screen reader reads. Always dark on light,
 * whatever the page's colours are.
 */
export const drawQr = (content: string, label: string): Html => {
  const { side, path } = codes.memo(content);
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${side} ${side}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${side}v${side}H0z" />
    <path stroke="#111418" d="${path}" />
  </svg>`;
};
