/** The acquirer's page on which a buyer confirms or refuses. */
import { cardWith3ds } from './api.ts';
import type { BookedPayment } from './books.ts';

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

const titles: Readonly<Record<string, string>> = { sbp: 'Система быстрых платежей', bank_card: '3-D Secure', tinkoff_bank: 'T-Pay', sberbank: 'SberPay' };
const words = { waiting_for_capture: 'Деньги удержаны', succeeded: 'Оплачено', canceled: 'Платёж отменён' } as const;

const style = `:root{color-scheme:light dark}*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;
font:1rem/1.5 system-ui,sans-serif;background:light-dark(#eef1f6,#0f1218);color:light-dark(#141821,#e9edf5)}
main{width:min(24rem,100%);padding:2rem;border-radius:1.25rem;background:light-dark(#fff,#1a1f29);box-shadow:0 1px 2px #0001,0 12px 40px #0002}
p{margin:0;color:light-dark(#5d6675,#98a2b3)}h1{margin:.25rem 0 1.5rem;font-size:2.25rem;line-height:1.1;font-variant-numeric:tabular-nums}
form{display:grid;gap:.75rem}button,a{display:block;width:100%;padding:.875rem;border:0;border-radius:.75rem;font:600 1rem system-ui,sans-serif;text-align:center;text-decoration:none;cursor:pointer}
button:first-of-type,a{background:#2f6bff;color:#fff}button:last-of-type:not(:first-of-type){background:light-dark(#eef1f6,#262d3a);color:inherit}
:focus-visible{outline:3px solid #7aa2ff;outline-offset:2px}small{display:block;margin-top:1.5rem;color:light-dark(#5d6675,#98a2b3)}`;

const choice = `<form method="post"><button name="decision" value="pay">Подтвердить</button><button name="decision" value="refuse">Отказаться</button></form>`;

/** The page of a payment; `null` when there is none. */
export const confirmationPage = (payment: BookedPayment | null): string => {
  const amount = payment ? `${payment.amount.value.replace('.', ',')} ${payment.amount.currency}` : 'Нет такого платежа';
  const back = payment?.confirmation ? `<a href="${escaped(payment.confirmation.returnUrl)}">Вернуться в магазин</a>` : '';
  const below = !payment ? '' : payment.status === 'pending' ? choice : `<p>${words[payment.status]}</p><br>${back}`;
  return `<!doctype html><html lang="ru"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Подтверждение платежа</title>
<style>${style}</style></head><body><main><p>${titles[payment?.method.type ?? ''] ?? 'Банк'}</p><h1>${escaped(amount)}</h1>${below}
<small>Эмулятор банка: деньги не списываются. Карта ${cardWith3ds} приходит сюда, другие оплачивают сразу.</small></main></body></html>`;
};
