/** QR codes as inline SVG: no image request, sharp at any size. */
import QRCode from 'qrcode';
import { html, type Html } from './html.ts';

/** Light modules around the code, which scanners need. */
const quietModules = 3;

interface Code {
  readonly side: number;
  /** A line, one module wide, for each run of dark modules in a row. */
  readonly path: string;
}

/** A code takes longer to make than the rest of its page, and its page is drawn several times. */
const codes = new Map<string, Code>();
const codes_max = 200;

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

const codeOf = (content: string): Code => {
  const code = codes.get(content) ?? makeCode(content);
  codes.set(content, code);
  const [oldest] = codes.keys();
  if (codes.size > codes_max && oldest !== undefined) codes.delete(oldest);
  return code;
};

/**
 * The code that holds `content`; `label` is what a screen reader reads. Always dark on light,
 * whatever the page's colours are.
 */
export const drawQr = (content: string, label: string): Html => {
  const { side, path } = codeOf(content);
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
