/** Links of a chaos run: the last use is one buyer's, and the other one's money goes back. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LiveMerchant } from '../live/harness.ts';
import { linkKeyIn } from '../support/buyer.ts';
import type { Answer } from '../support/merchant.ts';
import { goOn, insist, patience_ms } from './insist.ts';

/** The key of a link's page, which is asked for until it comes. */
const keyOf = async (url: string): Promise<string> => {
  for (;;) {
    const text = await fetch(url, { signal: AbortSignal.timeout(patience_ms) })
      .then((shown) => shown.text())
      .catch(() => '');
    const key = linkKeyIn(text);
    if (key) return key;
    await delay(100);
  }
};

/** Presses the button on a link's page until its payment's page comes; null: it is used up. */
const begin = async (url: string): Promise<string | null> => {
  const key = await keyOf(url);
  for (;;) {
    const pressed = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ idempotency_key: key }),
      signal: AbortSignal.timeout(patience_ms),
    }).catch(() => null);
    await pressed?.arrayBuffer().catch(() => null);
    const page = pressed?.headers.get('location');
    if (page) return new URL(page, url).href;
    if (pressed && pressed.status !== 429 && pressed.status < 500) return null;
    await delay(100);
  }
};

/** Makes a link for one use, at whose page two buyers begin; then both pay. */
export const payLink = async (
  merchant: LiveMerchant,
  key: string,
  terms: { readonly amount: number },
): Promise<Answer> => {
  const wanted = { method: 'sbp', uses: 1, ...terms };
  const answer = await insist(() =>
    merchant.call('POST', '/links', wanted, { 'idempotency-key': key }),
  );
  if (answer.status >= 300) return answer;
  const { url } = answer.body.link;
  const pages = await Promise.all([begin(url), begin(url)]);
  await Promise.all(pages.flatMap((page) => (page === null ? [] : [goOn(page, null)])));
  return answer;
};

type Row = Readonly<Record<string, any>>;

/**
 * Each link has at most one payment that counts, and says so; every other one that its bank took
 * went back whole, without a fee. Gives how many went back.
 */
export const compareLinks = async (
  merchant: LiveMerchant,
  links: readonly string[],
  payments: readonly Row[],
): Promise<number> => {
  let givenBack = 0;
  for (const id of links) {
    const { body: link } = await merchant.call('GET', `/links/${id}`);
    const paid = payments.filter(
      ({ metadata, captured_at: at }) =>
        metadata.link_id === id && at !== null && metadata.late_success !== 'true',
    );
    const [counted = [], exhausted = []] = [false, true].map((isExhausted) =>
      paid.filter(({ metadata }) => (metadata.link_exhausted === 'true') === isExhausted),
    );
    const sum = counted.reduce((total, { amount }) => total + amount, 0);
    assert.deepEqual(
      [link.status, link.payments_count, link.amount_paid, link.uses_left],
      paid.length > 0 ? ['paid', 1, link.amount, 0] : ['active', 0, 0, 1],
      `link ${id}`,
    );
    assert.deepEqual([counted.length, sum], [link.payments_count, link.amount_paid], id);
    assert.deepEqual(
      exhausted.map(({ status, fee, amount_refunded: back, amount }) => [
        status,
        fee,
        back - amount,
      ]),
      exhausted.map(() => ['refunded', 0, 0]),
      `what link ${id} had no use for`,
    );
    givenBack += exhausted.length;
  }
  return givenBack;
};
