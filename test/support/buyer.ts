/**
 * What a buyer's browser does on the hosted page, without the browser: the browser tests have one.
 */
import assert from 'node:assert/strict';

/** Continues to the bank from the hosted page of a payment whose method is fixed. */
export const pay = async (paymentUrl: string, form: object = {}): Promise<void> => {
  const response = await fetch(`${paymentUrl}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
    body: JSON.stringify(form),
  });
  assert.equal(response.status, 200, await response.text());
};

const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };

/** Continues to the bank with a card that the simulator takes. */
export const payByCard = (paymentUrl: string, number = card.number): Promise<void> =>
  pay(paymentUrl, { card: { ...card, number } });

/** Confirms at the simulated bank: enters a code, or presses the button. */
export const confirmAtBank = async (paymentUrl: string, code = '123456'): Promise<void> => {
  const response = await fetch(`${paymentUrl}/bank`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(paymentUrl).origin },
    body: new URLSearchParams({ answer: 'approve', code }),
  });
  assert.equal(response.status, 303, await response.text());
};

/** The idempotency key in the form of a link's page; undefined when the text is no such page. */
export const linkKeyIn = (page: string): string | undefined =>
  /name="idempotency_key"\s+value="([\w-]{22})"/.exec(page)?.[1];
