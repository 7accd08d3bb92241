/**
 * Receipts in the words of the acquirers: whatever a merchant may give is sent as the acquirer
 * describes it, to the kopeck, or is refused before anything is ordered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as tbank from '../../subgraphs/acquirers/tbank/receipts.ts';
import * as yookassa from '../../subgraphs/acquirers/yookassa/receipts.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import {
  itemTotal,
  measures,
  paymentModes,
  paymentSubjects,
  vatRates,
  type ReceiptItem,
  type ReceiptTerms,
} from '../../subgraphs/rules/receipt.ts';
import { mistakeIn } from '../acquirer/description.ts';
import { sumOf } from '../acquirer/receipts.ts';
import { mistakeIn as tbankMistakeIn } from '../acquirer/tbank/api.ts';
import { searching } from '../fuzz/cases.ts';
import { size } from '../support/size.ts';

const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.option(value, { nil: null });

const quantity = fc
  .tuple(fc.integer({ min: 0, max: 120_000 }), fc.integer({ min: 0, max: 999 }))
  .filter(([whole, places]) => whole + places > 0)
  .map(([whole, places]) =>
    places === 0 ? `${whole}` : `${whole}.${String(places).padStart(3, '0')}`,
  );

const markCode = fc.oneof(
  fc.constantFrom('4607034160012', '46070341', '04607034160012', 'RU-401301-AAA0277031'),
  fc.stringMatching(/^01\d{14}21[A-Za-z0-9]{1,60}$/),
  fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme-ascii' }),
);

/** More than one payment can be. */
const total_max = 9_999_999_999n;

const item: fc.Arbitrary<ReceiptItem> = fc
  .record({
    description: fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme-ascii' }),
    quantity,
    price: fc.bigInt({ min: 0n, max: 10_000_000n }).map((price) => minorUnits(price)),
    vatCode: fc.constantFrom(...vatRates.map(({ code }) => code)),
    paymentSubject: orNull(fc.constantFrom(...paymentSubjects)),
    paymentMode: orNull(fc.constantFrom(...paymentModes)),
    measure: orNull(fc.constantFrom(...measures)),
    markCode: fc.oneof(
      { weight: 4, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: markCode },
    ),
  })
  .filter((each) => itemTotal(each) <= total_max);

const terms: fc.Arbitrary<ReceiptTerms> = fc.record({
  customer: fc
    .record({
      email: orNull(fc.constant('ivanov@example.com')),
      phone: orNull(fc.constant('+79161234567')),
      fullName: orNull(fc.constant('Иван Петров')),
      inn: orNull(fc.constantFrom('6321341814', '632134181412')),
    })
    .filter(({ email, phone }) => email !== null || phone !== null),
  taxSystem: orNull(fc.integer({ min: 1, max: 6 })),
  items: fc.oneof(
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(item, { minLength: 1, maxLength: 100 }) },
  ),
});

const totalOf = ({ items }: ReceiptTerms): bigint =>
  items.reduce((sum, each) => sum + itemTotal(each), 0n);

test('YooKassa gets any receipt as it describes them, to the kopeck, or the receipt is refused', (t) => {
  let seen = 0;
  fc.assert(
    fc.property(terms, (given) => {
      if (yookassa.receiptMistake(given, null) !== null) return;
      seen += 1;
      const wire = yookassa.wireReceipt(given, 'RUB');
      assert.equal(mistakeIn('ReceiptData', wire), null);
      assert.equal(sumOf(wire.items), totalOf(given));
      assert.match(wire.customer.phone ?? '7', /^\d+$/, 'a phone is digits alone there');
    }),
    searching(t, size(100, 200)),
  );
  assert.ok(seen > 50, `only ${seen} receipts were given`);
});

for (const ffd of ['1.05', '1.2'] as const) {
  test(`T-Bank gets any receipt in the format ${ffd} as it describes them, to the kopeck, or the receipt is refused`, (t) => {
    const register = { ffd, taxSystem: 2 };
    let seen = 0;
    fc.assert(
      fc.property(terms, (given) => {
        if (tbank.receiptMistake(given, register) !== null) return;
        seen += 1;
        const wire = tbank.wireReceipt(given, register);
        assert.equal(tbankMistakeIn('Receipt', wire), null);
        const sum = wire.Items.reduce((so, { Amount }) => so + BigInt(Amount), 0n);
        assert.equal(sum, totalOf(given));
      }),
      searching(t, size(100, 200)),
    );
    assert.ok(seen > 10, `only ${seen} receipts were given`);
  });
}

const plain: ReceiptItem = {
  description: 'Tea',
  quantity: '1',
  price: minorUnits(10_000),
  vatCode: 1,
  paymentSubject: null,
  paymentMode: null,
  measure: null,
  markCode: null,
};
const receipt = (item: Partial<ReceiptItem>, more: Partial<ReceiptTerms> = {}): ReceiptTerms => ({
  customer: { email: 'ivanov@example.com', phone: null, fullName: null, inn: null },
  taxSystem: 2,
  items: [{ ...plain, ...item }],
  ...more,
});

test('each VAT rate of the table has the word of T-Bank that names the same rate', () => {
  const register = { ffd: '1.2', taxSystem: null } as const;
  for (const { code, rate } of vatRates) {
    const word = rate === 'none' ? 'none' : `vat${rate.replace('%', '').split('/').at(-1)}`;
    const [wire] = tbank.wireReceipt(receipt({ vatCode: code }), register).Items;
    assert.equal(wire?.Tax, word, rate);
  }
});

test('what an acquirer has no word for is refused by its name', () => {
  const [of105, of12] = (['1.05', '1.2'] as const).map((ffd) => ({ ffd, taxSystem: null }));
  assert.ok(of105 && of12);
  const mark = { markCode: '010460406000590021N4N57RTCBUZTQ', measure: 'piece' } as const;
  for (const [given, register, mistake] of [
    [receipt({}), null, 'no_cash_register'],
    [receipt({}, { taxSystem: null }), of12, 'receipt_tax_system'],
    [receipt({}, { taxSystem: 4 }), of12, 'receipt_tax_system'],
    [receipt({ paymentSubject: 'lien' }), of105, 'receipt_payment_subject'],
    [receipt({ paymentSubject: 'lien' }), of12, null],
    [receipt({ paymentSubject: 'composite' }), of12, 'receipt_payment_subject'],
    [receipt({ quantity: '100000' }), of12, 'receipt_quantity'],
    [receipt(mark), of105, 'receipt_mark_code'],
    [receipt(mark), of12, null],
    [receipt({ ...mark, quantity: '2' }), of12, 'receipt_mark_code'],
  ] as const)
    assert.equal(
      tbank.receiptMistake(given, register),
      mistake,
      JSON.stringify(given.items[0]?.quantity),
    );
  const byPhone = receipt(
    {},
    { customer: { email: null, phone: '+79161234567', fullName: null, inn: null } },
  );
  for (const [given, register, mistake] of [
    [receipt({}), { enabled: false, provider: null }, 'no_cash_register'],
    [byPhone, { enabled: true, provider: 'yoo_receipt' }, 'receipt_email'],
    [byPhone, { enabled: true, provider: 'atol' }, null],
    [receipt({ markCode: 'x'.repeat(40) }), null, 'receipt_mark_code'],
  ] as const)
    assert.equal(yookassa.receiptMistake(given, register), mistake);
});
