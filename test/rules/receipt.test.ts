/** Sums to the kopeck, and what is shown of a customer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import {
  itemTotal,
  vatRates,
  shownCustomer,
  receiptTerms,
  sumMistake,
  type ReceiptInput,
} from '../../subgraphs/rules/receipt.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';

const now = Temporal.Instant.from('2026-11-21T10:00:00Z');

describe('an item’s total is price x quantity, rounded half up to a kopeck', () => {
  for (const [price, quantity, total] of [
    [100, '1', 100],
    [10_000, '0.750', 7_500],
    [333, '1.5', 500],
    [1, '0.5', 1],
    [1, '0.499', 0],
    [999, '0.001', 1],
    [0, '12345.678', 0],
    [9_007_199_254_740_991, '1', 9_007_199_254_740_991],
  ] as const)
    test(`${price} x ${quantity} = ${total}`, () =>
      assert.equal(itemTotal({ price: minorUnits(price), quantity }), BigInt(total)));
});

const item = { description: 'Tea', quantity: '1', price: 100n, vatCode: 1 };
const given = (fields: object = {}, of: object = {}): ReceiptInput => ({
  customer: { phone: '+79161234567' },
  items: [{ ...item, ...fields }],
  ...of,
});
const mistake = (input: ReceiptInput, at = now): string | null => {
  const terms = receiptTerms(input, at);
  return isRefusal(terms) ? terms.message : null;
};

test('an empty phone or INN of a customer is refused', () => {
  const email = 'a@b.example';
  const of = (customer: object) => mistake(given({}, { customer: { email, ...customer } }));
  assert.match(of({ phone: '' }) ?? '', /customer\.phone: expected \+7/);
  assert.match(of({ inn: '' }) ?? '', /customer\.inn: expected 10 or 12 digits/);
  assert.equal(of({ phone: null, inn: null }), null);
});

describe('a receipt of the graph, which no description has checked', () => {
  for (const [fields, words] of [
    [{ quantity: '1.0000' }, /quantity/],
    [{ quantity: '0.000' }, /quantity/],
    [{ quantity: '-1' }, /quantity/],
    [{ quantity: '1e3' }, /quantity/],
    [{ quantity: '' }, /quantity/],
    [{ vatCode: 13 }, /vat_code: expected an integer from 1 to 12, got 13/],
    [{ description: '' }, /description: expected 1 to 128 characters, got 0/],
    [{ markCode: 'x'.repeat(257) }, /mark_code: expected 1 to 256/],
  ] as const)
    test(`is refused for ${JSON.stringify(fields).slice(0, 40)}`, () =>
      assert.match(mistake(given(fields)) ?? '', words));

  test('is taken with what the additions allow', () => {
    for (const { code } of vatRates) assert.equal(mistake(given({ vatCode: code })), null);
    assert.equal(mistake(given({}, { taxSystem: 6 })), null);
    assert.match(mistake(given({}, { taxSystem: 0 })) ?? '', /tax_system/);
    assert.match(mistake(given({}, { items: [] })) ?? '', /1 to 100 items, got 0/);
  });

  test('has a rate that is in force in Moscow, or was', () => {
    const rise = Temporal.Instant.from('2025-12-31T21:00:00Z');
    const before = rise.subtract({ milliseconds: 1 });
    assert.match(mistake(given({ vatCode: 11 }), before) ?? '', /22% is valid from 2026-01-01/);
    assert.equal(mistake(given({ vatCode: 11 }), rise), null);
    assert.equal(mistake(given({ vatCode: 4 }), rise), null);
  });

  test('sums to the amount exactly, or both sums are named', () => {
    const terms = receiptTerms(given(), now);
    assert.ok(!isRefusal(terms));
    assert.equal(sumMistake(terms, 100n), null);
    assert.equal(
      sumMistake(terms, 101n)?.message,
      'receipt.items: the items sum to 100, but the amount is 101',
    );
  });
});

test('of a customer nothing is shown that would name one', () => {
  const shown = shownCustomer({
    email: 'ivanov@example.com',
    phone: '+79161234567',
    fullName: '  Иван  Петров ',
    inn: '770708389312',
  });
  assert.deepEqual(shown, {
    email: 'i***@example.com',
    phone: '+7 *** ***-45-67',
    fullName: 'И*** П***',
    inn: '********9312',
  });
  const nobody = { email: null, phone: null, fullName: null, inn: null };
  assert.deepEqual(shownCustomer(nobody), nobody);
});
