/**
 * The parts of the hosted page that decide without a browser: markup, words, amounts, languages,
 * and what a card looks like.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import QRCode from 'qrcode';
import {
  brandOf,
  cvcFlaw,
  expiryFlaw,
  grouped,
  holderFlaw,
  lengthsOf,
  luhn,
  numberFlaw,
  tidyExpiry,
  unacceptedBrandOf,
} from '../../rest-facade/checkout/browser/card-rules.js';
import {
  preferredLanguage,
  wordsOf,
  formatAmount,
  failureWords,
  refusalWords,
} from '../../rest-facade/checkout/language.ts';
import sbpBanks from '../../subgraphs/acquirers/sbp-banks.json' with { type: 'json' };
import { appLink, likelyBanks, testCards } from '../../rest-facade/checkout/views/pay-form.ts';
import { drawQr } from '../../rest-facade/checkout/views/icons.ts';
import { html, linkable, markupText } from '../../rest-facade/checkout/html.ts';
import { outcomeView } from '../../rest-facade/checkout/views/page.ts';
import { failureCodes } from '../../subgraphs/rules/failure-code.ts';

describe('markup', () => {
  test('whatever is put into a template is escaped unless it is markup', () => {
    const inner = html`<b>${'<i>'}</b>`;
    assert.equal(
      markupText(html`<p title="${`"'&`}">${inner}${['<', inner]}</p>`),
      '<p title="&quot;&#39;&amp;"><b>&lt;i&gt;</b>&lt;<b>&lt;i&gt;</b></p>',
    );
  });

  test('nothing is said for what is absent, and zero is said', () => {
    assert.equal(markupText(html`${null}${undefined}${false}${0}${[]}`), '0');
  });

  test('an attribute without quotes is a mistake, but a text may end with an equals sign', () => {
    assert.throws(() => html`<a href=${'x'}></a>`, /needs quotes/);
    assert.equal(markupText(html`<p>${'a ='}${'b'}</p>`), '<p>a =b</p>');
  });

  test('only web addresses and paths of this host become links', () => {
    assert.equal(linkable('https://shop.example/a?b=c#d'), 'https://shop.example/a?b=c#d');
    assert.equal(linkable('/pay/token/bank'), '/pay/token/bank');
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      'nonsense',
      null,
    ])
      assert.equal(linkable(address), null, String(address));
  });

  test('a QR code is drawn dark on light with a margin', () => {
    const code = markupText(drawQr('https://qr.example/1', 'SBP "code"'));
    assert.match(code, /role="img"\s+aria-label="SBP &quot;code&quot;"/);
    const { modules } = QRCode.create(
      [{ data: Buffer.from('https://qr.example/1'), mode: 'byte' }],
      {
        errorCorrectionLevel: 'M',
        maskPattern: 3,
      },
    );
    const drawn = new Set(
      [...code.matchAll(/M(\d+) (\d+)\.5h(\d+)/g)].flatMap(([, x, y, run]) =>
        Array.from({ length: Number(run) }, (_, step) => `${Number(x) + step} ${y}`),
      ),
    );
    const dark = [...modules.data].flatMap((is, at) =>
      is ? [`${(at % modules.size) + 3} ${Math.floor(at / modules.size) + 3}`] : [],
    );
    assert.deepEqual(drawn, new Set(dark));
  });
});

/** Every key of a table with what kind of thing it is, nested ones with a dot. */
const shapeOf = (table: object, prefix = ''): readonly string[] =>
  Object.entries(table).flatMap(([key, value]) =>
    typeof value === 'object'
      ? shapeOf(value, `${prefix}${key}.`)
      : [`${prefix}${key}: ${typeof value}`],
  );

describe('the banks of SBP', () => {
  test('are members of SBP, each with a link into its own app', () => {
    const members = new Set(sbpBanks.map(({ member_id }) => member_id));
    for (const { id } of likelyBanks) assert.ok(members.has(id), id);
    const link = 'https://qr.nspk.ru/AS10001?type=02&sum=100&crc=AB';
    assert.equal(
      appLink(link, '100000000111', false),
      'bank100000000111://qr.nspk.ru/AS10001?type=02&sum=100&crc=AB',
    );
    for (const other of ['https://qr.nspk.ru.shop.example/1', 'http://qr.nspk.ru/1', '/pay/x/bank'])
      assert.equal(appLink(other, '100000000111', false), null, other);
    assert.equal(appLink('/pay/x/bank', '100000000111', true), '/pay/x/bank');
  });
});

describe('words', () => {
  test('both languages say the same things, and none is empty', () => {
    const russian = shapeOf(wordsOf('ru')).toSorted();
    assert.ok(russian.length > 150);
    assert.deepEqual(shapeOf(wordsOf('en')).toSorted(), russian);
    for (const language of ['ru', 'en'] as const)
      assert.doesNotMatch(JSON.stringify(wordsOf(language)), /""/);
  });

  test('every failure of a payment has words in both languages; payouts and refunds keep theirs elsewhere', () => {
    const elsewhere = Object.keys(failureCodes).filter(
      (code) => !failureWords(wordsOf('en'), code),
    );
    assert.deepEqual(elsewhere.toSorted(), [
      'acquirer_balance_insufficient',
      'bank_unknown',
      'payout_limit_exceeded',
      'recipient_check_failed',
      'recipient_data_lost',
      'recipient_not_in_sbp',
      'refund_rejected',
      'refund_window_closed',
      'rejected_by_recipient_bank',
    ]);
  });

  test('an unknown refusal is said in general words, also when it is named like something every object has', () => {
    const words = wordsOf('ru');
    assert.equal(refusalWords(words, 'not_pending'), words.refusals.not_pending);
    for (const code of ['router_error', 'constructor', 'toString'])
      assert.equal(refusalWords(words, code), words.refused);
  });

  test('the browser’s preference chooses the language', () => {
    const headers = {
      'ru-RU,ru;q=0.9,en;q=0.8': 'ru',
      'en-GB,en;q=0.9': 'en',
      'de-DE,ru;q=0.5': 'ru',
      'de-DE,de': 'en',
      'en;q=0.2,ru;q=0.8': 'ru',
      '*': 'ru',
      '': 'ru',
    };
    for (const [header, language] of Object.entries(headers))
      assert.equal(preferredLanguage(header), language, header);
    assert.equal(preferredLanguage(undefined), 'ru');
  });
});

const paid = {
  paymentId: '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11',
  publicId: 'P-1',
  shopName: 'Tea',
  seller: {
    legalName: null,
    inn: null,
    contactEmail: null,
    contactPhone: null,
    siteUrl: null,
    offerUrl: null,
  },
  orderId: 'A-1',
  description: null,
  amount: 10_000,
  currency: 'RUB',
  mode: 'live',
  method: 'cards',
  methods: ['cards'],
  status: 'succeeded',
  deadline: '2026-05-06T11:00:00Z',
  step: null,
  stepUrl: null,
  failureCode: null,
  returnTo: null,
  onDecline: 'return',
  plannedOutcome: null,
  plannedFailureCode: null,
  saves: false,
  verification: false,
  subscription: null,
  asksCard: false,
  asksHolder: false,
  paidAt: '2026-05-06T10:30:00Z',
  endedAt: '2026-05-06T10:30:00Z',
  cardBrand: 'MasterCard',
  captured: null,
  cardMask: '**** **** **** 4444',
  paidLate: false,
  shopSite: 'https://shop.example',
  now: '2026-05-06T10:30:05Z',
  clockStands: false,
  fiscalReceipt: null,
} as const;

type Shown = Parameters<typeof outcomeView>[0];

/** What the page of a payment that is over says, as text. */
const ending = (language: 'ru' | 'en', of: Partial<Shown> = {}): string => {
  const shown = { ...paid, methods: [...paid.methods], refunds: [], ...of };
  const status =
    shown.status === 'pending' || shown.status === 'processing' ? 'failed' : shown.status;
  const text = markupText(outcomeView(shown, status, wordsOf(language)));
  return text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
};

describe('what a payment that is over says', () => {
  test('a receipt names the moment with its zone, the method and the card, in both languages', () => {
    assert.match(
      ending('en'),
      /Date May 6, 2026, 1:30 PM Moscow time Method Bank card Card Mastercard •• 4444/,
    );
    assert.match(
      ending('ru'),
      /Дата 6 мая 2026 г\., 13:30 МСК Способ Банковская карта Карта Mastercard •• 4444/,
    );
    assert.match(ending('ru', { cardBrand: 'mir', cardMask: null }), /Карта Мир/);
    assert.doesNotMatch(ending('en', { method: 'sbp', cardBrand: null, cardMask: null }), /Card/);
  });

  test('a receipt says what was given back, when, and why in the merchant’s own words', () => {
    assert.doesNotMatch(ending('en'), /Returned|way back/);
    const given = ending('en', {
      refunds: [
        { amount: 4_000, reason: 'One <ticket>', status: 'succeeded', at: '2026-05-07T21:30:00Z' },
        { amount: 105, reason: null, status: 'pending', at: '2026-05-08T10:00:00Z' },
      ],
    });
    assert.match(
      given,
      /Returned ₽40 May 8, 2026 One &lt;ticket&gt; On its way back ₽1\.05 May 8, 2026 /,
    );
  });

  test('money that came too late is told in the buyer’s language, never that nothing was charged', () => {
    const refunds: Shown['refunds'] = [
      {
        amount: 10_000,
        reason: 'The bank reported success after the payment was expired',
        status: 'succeeded',
        at: '2026-05-08T10:00:00Z',
      },
    ];
    for (const status of ['expired', 'cancelled', 'failed'] as const) {
      const late = {
        status,
        paidLate: true,
        failureCode: status === 'expired' ? 'link_expired' : null,
        refunds,
      } as const;
      assert.match(
        ending('ru', late),
        /Деньги вернутся к вам Банк подтвердил .* Платёж пришёл слишком поздно/,
        status,
      );
      assert.doesNotMatch(ending('ru', late), /The bank|не списан/, status);
      assert.match(
        ending('en', late),
        /The money goes back to you .* The payment came too late/,
        status,
      );
      assert.doesNotMatch(ending('en', late), /not charged|reported success/, status);
    }
  });

  test('no advice asks to try again on a page that does not allow it', () => {
    for (const language of ['ru', 'en'] as const) {
      for (const [code, { advice }] of Object.entries(wordsOf(language).failures)) {
        assert.match(advice, language === 'ru' ? /магазин/ : /shop/, `${code}: ${advice}`);
      }
    }
  });
});

describe('amounts', () => {
  const shown = (...parts: Parameters<typeof formatAmount>): string =>
    formatAmount(...parts).replaceAll(/\s/g, ' ');

  test('minor units follow the currency, whole amounts have no zeros after the point', () => {
    assert.equal(shown(125_000, 'RUB', 'ru-RU'), '1 250 ₽');
    assert.equal(shown(125_050, 'RUB', 'ru-RU'), '1 250,50 ₽');
    assert.equal(shown(5, 'USD', 'en-US'), 'USD 0.05');
    assert.equal(shown(1_250, 'JPY', 'en-US'), 'JPY 1,250');
    assert.equal(shown(1_000_000, 'HUF', 'en-US'), 'Ft 10,000');
    assert.match(shown(1_234_567, 'KWD', 'en-US'), /1,234\.567/);
  });

  test('the largest amount keeps every digit', () => {
    assert.equal(shown(Number.MAX_SAFE_INTEGER, 'RUB', 'ru-RU'), '90 071 992 547 409,91 ₽');
  });
});

describe('cards', () => {
  const today = new Date('2026-11-21T12:00:00');

  test('brands are known by their first digits', () => {
    const brands = {
      2200: 'mir',
      2204: 'mir',
      2205: null,
      4: 'visa',
      51: 'mastercard',
      55: 'mastercard',
      2221: 'mastercard',
      2720: 'mastercard',
      2721: null,
      62: 'unionpay',
      37: null,
    };
    for (const [digits, brand] of Object.entries(brands))
      assert.equal(brandOf(digits), brand, digits);
  });

  test('brands that are not accepted are known by their first digits, and no accepted one is taken for them', () => {
    const unaccepted = {
      34: 'Amex',
      37: 'Amex',
      3528: 'Jcb',
      3589: 'Jcb',
      300: 'Diners',
      305: 'Diners',
      3095: 'Diners',
      36: 'Diners',
      38: 'Diners',
      39: 'Diners',
    };
    for (const [digits, brand] of Object.entries(unaccepted)) {
      assert.equal(unacceptedBrandOf(digits), brand, digits);
      assert.equal(numberFlaw(`${digits}00000`), brand, digits);
    }
    for (const digits of [
      '',
      '3',
      '35',
      '3527',
      '3590',
      '306',
      '31',
      '4',
      '55',
      '62',
      ...testCards.map(({ number }) => number),
    ]) {
      assert.equal(unacceptedBrandOf(digits), null, digits);
    }
  });

  test('the test cards are cards', () => {
    assert.equal(testCards.length, 4);
    for (const { number, brand } of testCards)
      assert.deepEqual([numberFlaw(number), brandOf(number)], [null, brand]);
  });

  test('a number is empty, short, mistyped or fine', () => {
    assert.equal(numberFlaw(' '), 'Empty');
    assert.equal(numberFlaw('4111 1111 1111'), 'Short');
    assert.equal(numberFlaw('4111 1111 1111 1112'), 'Wrong');
    assert.equal(numberFlaw('4111 1111 1111 1111'), null);
    assert.equal(luhn(''), false);
    assert.deepEqual(lengthsOf('5'), { least: 13, most: 19 });
    assert.deepEqual(lengthsOf('55'), { least: 16, most: 16 });
    assert.equal(grouped('2200000000000004000'), '2200 0000 0000 0004 000');
  });

  test('an expiry is tidied as it is typed or filled in', () => {
    const tidied = {
      1: '1',
      12: '12',
      '12/': '12/',
      123: '12/3',
      1230: '12/30',
      5: '05',
      '5/30': '05/30',
      '1/29': '01/29',
      '1/': '01/',
      '1/2': '01/2',
      '1 29': '01/29',
      '1-29': '01/29',
      '1 / 2029': '01/29',
      129: '12/9',
      '12/2030': '12/30',
      '122030': '12/30',
      '12 / 30': '12/30',
    };
    for (const [typed, text] of Object.entries(tidied))
      assert.equal(tidyExpiry(typed), text, typed);
  });

  test('a card is good through the last day of its month', () => {
    assert.equal(expiryFlaw('11/26', today), null);
    assert.equal(expiryFlaw('10/26', today), 'Past');
    assert.equal(expiryFlaw('13/27', today), 'Wrong');
    assert.equal(expiryFlaw('00/27', today), 'Wrong');
    assert.equal(expiryFlaw('1/27', today), 'Wrong');
    assert.equal(expiryFlaw('01/60', today), 'Wrong');
    assert.equal(expiryFlaw('', today), 'Empty');
  });

  test('a code has three digits, a holder Latin letters', () => {
    assert.deepEqual(
      [cvcFlaw(''), cvcFlaw('12'), cvcFlaw('123'), cvcFlaw('1234')],
      ['Empty', 'Wrong', null, 'Wrong'],
    );
    assert.deepEqual(
      [holderFlaw(' '), holderFlaw('Иван'), holderFlaw("Anne-Marie O'Neil"), holderFlaw('4111')],
      ['Empty', 'Wrong', null, 'Wrong'],
    );
  });
});
