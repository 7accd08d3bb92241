/** A text's limit counts characters as people do: one outside of the basic plane is one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forbiddenWord } from '../../subgraphs/platform/policies/policies.ts';
import { blockValue } from '../../subgraphs/rules/block.ts';
import { nameMistake } from '../../subgraphs/merchants/rules/merchant.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { reasonMistake } from '../../subgraphs/merchants/policies/change-policy.ts';
import { payoutTerms } from '../../subgraphs/payouts/rules/create.ts';
import { subscriptionTerms } from '../../subgraphs/recurring/rules/start.ts';
import { chargeMistake, tokenTerms } from '../../subgraphs/recurring/rules/token.ts';

const amount = 100n;
const phone = '+79161234567';
const key = Buffer.alloc(32);

/** Each text, its limit, and what becomes of it. */
const texts: Readonly<
  Record<string, readonly [number, (text: string) => Refusal | object | null]>
> = {
  'a subscription’s customer_ref': [
    255,
    (customerRef) => subscriptionTerms({ amount, customerRef }),
  ],
  'a subscription’s plan_name': [
    255,
    (planName) => subscriptionTerms({ amount, customerRef: 'c', planName }),
  ],
  'a token’s customer_ref': [255, (customerRef) => tokenTerms({ customerRef })],
  'a charge’s order_id': [255, (orderId) => chargeMistake({ amount, orderId, description: null })],
  'a charge’s description': [
    4_000,
    (description) => chargeMistake({ amount, orderId: null, description }),
  ],
  'a payout’s full_name': [
    255,
    (fullName) => payoutTerms('payouts_sbp', { amount, phone, bankId: '100000000111', fullName }),
  ],
  'a policy’s reason': [500, reasonMistake],
};

test('names and what is blocked have so many characters, whatever they are made of', () => {
  for (const character of ['x', 'ж', '🎉']) {
    assert.equal(nameMistake('name', character.repeat(200)), null);
    assert.match(nameMistake('name', character.repeat(201)) ?? '', /at most 200 .*, got 201$/);
    assert.ok(blockValue(key, 'customer', character.repeat(500)));
    assert.equal(blockValue(key, 'customer', character.repeat(501)), null);
  }
  assert.ok(forbiddenWord('𐐀'.repeat(200)));
  assert.equal(forbiddenWord('𐐀'.repeat(201)), null);
});

for (const [name, [max, judge]] of Object.entries(texts))
  test(`${name} has ${max} characters at most, whatever they are made of`, () => {
    const mistakeOf = (text: string): string | null => {
      const judged = judge(text);
      return judged !== null && isRefusal(judged) ? judged.message : null;
    };
    for (const character of ['x', 'ж', '🎉']) {
      assert.equal(mistakeOf(character.repeat(max)), null, character);
      assert.match(
        mistakeOf(character.repeat(max + 1)) ?? '',
        new RegExp(`expected [01] to ${max} characters, got ${max + 1}$`),
      );
    }
  });
