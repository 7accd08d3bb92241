/** What a buyer's browser does on the hosted page and at the simulated bank, as requests. */
import { Failure } from './failure.ts';

const post = async (url: string, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('origin', new URL(url).origin);
  const response = await fetch(url, { ...init, method: 'POST', headers, redirect: 'manual' });
  if (response.status >= 400)
    throw new Failure('refused', `the hosted page answered ${response.status} to ${url}`);
  return response;
};

const postJson = (url: string, body: object): Promise<Response> =>
  post(url, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** A card that the simulated bank takes. */
const card = { number: '4111111111111111', expiry: '12/39', cvc: '123', holder: 'TEST BUYER' };

/** Pays on the page of a payment whose method is fixed. */
export const pay = async (paymentUrl: string, method: 'sbp' | 'cards'): Promise<void> =>
  void (await postJson(`${paymentUrl}/pay`, method === 'cards' ? { card } : {}));

/** Chooses SBP on the page of a payment that leaves the method open, and pays. */
export const chooseAndPay = async (paymentUrl: string): Promise<void> => {
  await postJson(`${paymentUrl}/method`, { method: 'sbp' });
  await pay(paymentUrl, 'sbp');
};

/** Begins a payment on the page of a link; gives that payment's page. */
export const useLink = async (linkUrl: string): Promise<string> => {
  const { headers } = await post(linkUrl, { body: new URLSearchParams() });
  const location = headers.get('location');
  if (location === null) throw new Failure('refused', `${linkUrl} led to no payment`);
  return new URL(location, linkUrl).href;
};
