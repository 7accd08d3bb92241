/** Amounts in every currency of ISO 4217: read, written and counted in its own minor unit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { amountFieldText, amountText, readAmount } from '../../console/src/amounts.ts';
import { amountOf } from '../../rest-facade/checkout/browser/amount-rules.js';
import { formatAmount } from '../../rest-facade/checkout/language.ts';
import { currencies, decimalOf, digitsOf, isCurrency } from '../../schema/currencies.ts';
import { formatMoney as money, signsOf } from '../../schema/money-format.ts';
import * as sdk from '../../sdk/src/money.ts';
import { exchangeRate, usdtOf } from '../../subgraphs/rules/money.ts';

const all = [...currencies];
const locales = ['ru-RU', 'en-US', 'en-GB'];
/** As many whole units, and the smallest unit more. */
const units = (whole: number, digits: number): number =>
  digits === 0 ? whole : whole * 10 ** digits + 1;
/** How many digits stand behind the point or comma that a locale writes. */
const shownDigits = (text: string, locale: string): number => {
  const point = locale === 'ru-RU' ? ',' : '.';
  return new RegExp(`\\${point}(\\d+)(?!.*\\d)`).exec(text)?.[1]?.length ?? 0;
};

describe('the table of currencies', () => {
  test('holds list one of ISO 4217 with its digits', () => {
    const counts = Object.groupBy(all, ([, digits]) => String(digits));
    assert.deepEqual(
      Object.entries(counts).map(([digits, list]) => [digits, list?.length]),
      [
        ['0', 17],
        ['2', 139],
        ['3', 7],
        ['4', 2],
      ],
    );
    const two = 'AFN ALL COP HUF IDR IRR KPW LAK LBP MGA MMK PKR SOS SYP YER RUB USD EUR';
    for (const code of two.split(' ')) assert.equal(digitsOf(code), 2, code);
    for (const code of ['IQD', 'KWD', 'BHD']) assert.equal(digitsOf(code), 3, code);
    for (const code of ['JPY', 'CLP', 'UGX']) assert.equal(digitsOf(code), 0, code);
  });

  test('has no withdrawn currency, and nothing that is no currency', () => {
    const withdrawn = 'ANG BGN BYR CUC DEM HRK LTL RUR SLL TRL VEF ZMK ZWL';
    const none = 'XAU XXX XTS XDR USDT rub RU';
    for (const code of `${withdrawn} ${none}`.split(' ')) assert.ok(!isCurrency(code), code);
  });
});

test('what a unit of each currency is worth follows its digits', () => {
  const rate = exchangeRate('2') ?? assert.fail();
  for (const [code, digits] of all)
    assert.equal(usdtOf(5n * 10n ** BigInt(digits), code, rate), 10, code);
});

test('page, console and SDK show each currency with the digits of ISO 4217', () => {
  for (const [code, digits] of all)
    for (const locale of locales) {
      const amount = units(1_234_567, digits);
      const shown = [formatAmount, money, amountFieldText, sdk.formatMoney].map((write) =>
        write(amount, code, locale),
      );
      for (const text of shown) assert.equal(shownDigits(text, locale), digits, `${code} ${text}`);
    }
});

test('what page and console show is read as the same amount', () => {
  for (const [code, digits] of all)
    for (const amount of [
      0,
      1,
      units(5, digits),
      units(1_500, digits),
      units(1_234_567, digits),
      ...[1, 1_000, 1_500, 20_000, 1_234_567].map((whole) => whole * 10 ** digits),
      Number.MAX_SAFE_INTEGER,
    ])
      for (const locale of locales)
        for (const text of [
          formatAmount(amount, code, locale),
          money(amount, code, locale),
          amountFieldText(amount, code, locale),
          amountText(amount, code),
        ]) {
          assert.equal(readAmount(text, code), amount, `console: ${code} ${text}`);
          assert.equal(
            amountOf(text, digitsOf(code), signsOf(code)),
            amount,
            `page: ${code} ${text}`,
          );
        }
});

test('what the SDK writes it reads, and what it cannot carry it refuses', () => {
  for (const [code, digits] of all)
    for (const amount of [0, 1, units(1_500, digits), Number.MAX_SAFE_INTEGER]) {
      assert.equal(sdk.decimalOf(amount, code), decimalOf(amount, code));
      assert.equal(sdk.parseMoney(sdk.decimalOf(amount, code), code), amount, code);
    }
  assert.throws(() => sdk.parseMoney('1', 'HRK'), RangeError);
});

test('a comma stands before a fraction where the currency can have it, and between thousands elsewhere', () => {
  const read = (text: string, code: string): number | null => readAmount(text, code);
  assert.equal(read('1,500', 'KWD'), 1_500);
  assert.equal(read('1.500', 'KWD'), 1_500);
  assert.equal(read('1,500.000', 'KWD'), 1_500_000);
  assert.equal(read('1,500', 'RUB'), 150_000);
  assert.equal(read('1,500', 'JPY'), 1_500);
  assert.equal(read('1,50', 'RUB'), 150);
  assert.equal(read('1 234 567,8 ₽', 'RUB'), 123_456_780);
  assert.equal(read('100 руб.', 'RUB'), 10_000);
  assert.equal(read('RUB 100', 'RUB'), 10_000);
  for (const wrong of ['', '-1', '1.500', '1,5000', '0,500', '1.2.3', '100 $', '100 USD', '1e3'])
    assert.equal(read(wrong, 'RUB'), null, wrong);
  assert.equal(read('90071992547409.92', 'RUB'), null, 'beyond 2^53-1');
});

test('no two currencies are written alike, and a shared sign is the code', () => {
  for (const locale of locales)
    for (const write of [formatAmount, money]) {
      const alike = Map.groupBy(all, ([code, digits]) =>
        write(10 ** digits, code, locale).replaceAll(/[\d.,\s]/g, ''),
      );
      for (const [sign, of] of alike) assert.equal(of.length, 1, `${sign}: ${of.join(' ')}`);
      for (const code of ['USD', 'CAD', 'AUD', 'CNY', 'JPY', 'GBP', 'SEK', 'BYN'])
        assert.match(write(100, code, locale), new RegExp(code));
      assert.match(write(100, 'RUB', locale), /₽/);
      assert.match(write(100, 'EUR', locale), /€/);
    }
});
