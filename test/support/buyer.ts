/** What a buyer's browser does on the hosted page, without the browser: the browser tests have one. */
import assert from 'node:assert/strict';

/** Goes on to the bank from the hosted page of a payment whose method is fixed. */
export const pay = async (paymentUrl: string): Promise<void> => {
  const response = await fetch(`${paymentUrl}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
    body: '{}',
  });
  assert.equal(response.status, 200, await response.text());
};
