/** The acquirer's page on which a buyer confirms or refuses. It works without scripts. */

/** What the page shows of a payment. */
export interface Shown {
  readonly id: string;
  readonly look: keyof typeof looks;
  /** Kopecks. */
  readonly amount: bigint;
  readonly status: 'open' | keyof typeof ends;
  readonly last4: string | null;
  readonly returnUrl: string | null;
  readonly createdAt: Date;
  /** For developers who use it. */
  readonly hint: string | null;
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

interface Look {
  readonly title: string;
  readonly mark: string;
  readonly colour: string;
}

const looks = {
  sbp: { title: 'Система быстрых платежей', mark: 'СБП', colour: '#5b57a2' },
  bank_card: { title: 'Подтверждение по карте', mark: '3DS', colour: '#2f6bff' },
  tinkoff_bank: { title: 'Оплата через T-Pay', mark: 'T', colour: '#b98a00' },
  sberbank: { title: 'Оплата через SberPay', mark: 'S', colour: '#21a038' },
  page: { title: 'Оплата картой', mark: 'T', colour: '#b98a00' },
} as const satisfies Record<string, Look>;
const someBank: Look = { title: 'Банк', mark: '₽', colour: '#5d6675' };

const ends = {
  held: { sign: '✓', word: 'Деньги удержаны', kind: 'good' },
  paid: { sign: '✓', word: 'Оплачено', kind: 'good' },
  failed: { sign: '✕', word: 'Платёж не прошёл', kind: 'bad' },
} as const;

const style = `:root{color-scheme:light dark;--ink:light-dark(#141821,#eef1f7);--soft:light-dark(#5d6675,#9aa5b8);--line:light-dark(#e6e9f0,#2a3140);--good:light-dark(#127a3d,#4cc77f);--bad:light-dark(#b3261e,#ff8a80)}
*{box-sizing:border-box}body{margin:0;min-height:100dvh;display:grid;grid-template-rows:auto 1fr;font:1rem/1.5 system-ui,sans-serif;background:light-dark(#eef1f6,#0d1016);color:var(--ink)}
aside{padding:.5rem 1rem;text-align:center;font-size:.8125rem;background:light-dark(#fff4d6,#3a2f10);color:light-dark(#6b4e00,#ffdf8f)}
main{align-self:end;width:100%;padding:1.75rem 1.25rem 2rem;border-radius:1.5rem 1.5rem 0 0;background:light-dark(#fff,#171c26);box-shadow:0 0 3rem #0002}
header{display:flex;align-items:center;gap:.75rem}header b{display:grid;place-items:center;flex:none;width:2.75rem;height:2.75rem;border-radius:.875rem;background:var(--mark);color:#fff;font-size:.8125rem}
h1{margin:0;font-size:1.0625rem;line-height:1.3}.sum{margin:1.5rem 0 1rem;font-size:2.5rem;font-weight:700;line-height:1;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
dl{margin:0 0 1.5rem;border-top:1px solid var(--line)}dl div{display:flex;justify-content:space-between;gap:1rem;padding:.75rem 0;border-bottom:1px solid var(--line)}dt{color:var(--soft)}dd{margin:0;text-align:right;overflow-wrap:anywhere}
form{display:grid;gap:.75rem}button,a{display:block;width:100%;min-height:3.25rem;padding:.875rem 1rem;border:0;border-radius:.875rem;font:600 1rem/1.5 system-ui,sans-serif;text-align:center;text-decoration:none;cursor:pointer}
.yes,a{background:#2f6bff;color:#fff}.yes:hover,a:hover{background:#1f57e0}.no{background:light-dark(#eef1f6,#262d3a);color:inherit}.no:hover{background:light-dark(#e3e7ef,#30384a)}
:focus-visible{outline:3px solid #7aa2ff;outline-offset:2px}.end{display:flex;align-items:center;gap:.75rem;margin:0 0 1.5rem;font-size:1.125rem;font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}
.end span{display:grid;place-items:center;width:2rem;height:2rem;border:2px solid;border-radius:50%;font-size:1rem}small{display:block;margin-top:1.25rem;color:var(--soft);font-size:.8125rem}
@media(min-width:40rem){main{align-self:center;justify-self:center;width:26rem;padding:2rem;border-radius:1.5rem}}`;

const choice =
  '<form method="post"><button class="yes" name="decision" value="pay">Подтвердить</button><button class="no" name="decision" value="refuse">Отказаться</button></form>';

const rubles = (amount: bigint): string => {
  const grouped = String(amount / 100n).replaceAll(/\B(?=(\d{3})+$)/g, '\u{a0}');
  const part = amount % 100n;
  return `${part === 0n ? grouped : `${grouped},${String(part).padStart(2, '0')}`}\u{a0}₽`;
};

const row = (name: string, value: string): string =>
  `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`;

const bodyOf = ({ id, amount, status, last4, returnUrl, createdAt, hint }: Shown): string => {
  const back = returnUrl === null ? '' : `<a href="${escaped(returnUrl)}">Вернуться в магазин</a>`;
  const end = status === 'open' ? null : ends[status];
  const below = end
    ? `<p class="end ${end.kind}" role="status"><span aria-hidden="true">${end.sign}</span>${end.word}</p>${back}`
    : choice;
  const rows = [
    returnUrl !== null && URL.canParse(returnUrl) ? row('Получатель', new URL(returnUrl).host) : '',
    last4 === null ? '' : row('Карта', `•••• ${last4}`),
    row('Платёж', id.slice(0, 10)),
    row('Создан', `${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`),
  ];
  const note = end || hint === null ? '' : `<small>${escaped(hint)}</small>`;
  return `<p class="sum">${rubles(amount)}</p><dl>${rows.join('')}</dl>${below}${note}`;
};

/** The page of a payment; `null` when there is none. */
export const confirmationPage = (shown: Shown | null): string => {
  const { title, mark, colour } = shown ? looks[shown.look] : someBank;
  return `<!doctype html><html lang="ru"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title>
<style>${style}</style></head><body><aside>Эмулятор банка для разработки: деньги не списываются</aside><main style="--mark:${colour}">
<header><b aria-hidden="true">${mark}</b><h1>${title}</h1></header>${shown ? bodyOf(shown) : '<p class="sum">Нет такого платежа</p>'}</main></body></html>`;
};
