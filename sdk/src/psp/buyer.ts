/** What a buyer's browser does on the hosted page and at the simulated bank, as requests. */
import { Failure } from './failure.ts';

/** Ends a request with the command. */
type Signal = AbortSignal | null;

const post = async (url: string, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('origin', new URL(url).origin);
  const response = await fetch(url, { ...init, method: 'POST', headers, redirect: 'manual' });
  if (response.status >= 400)
    throw new Failure('refused', `the hosted page answered ${response.status} to ${url}`);
  return response;
};

const postJson = (url: string, body: object, signal: Signal): Promise<Response> => {
  const headers = { 'content-type': 'application/json' };
  return post(url, { headers, body: JSON.stringify(body), signal });
};

/** A card that the simulated bank takes. */
const card = { number: '4111111111111111', expiry: '12/39', cvc: '123', holder: 'TEST BUYER' };

/** Pays on the page of a payment whose method is fixed. */
export const pay = async (
  paymentUrl: string,
  method: 'sbp' | 'cards',
  signal: Signal = null,
): Promise<void> =>
  void (await postJson(`${paymentUrl}/pay`, method === 'cards' ? { card } : {}, signal));

/** Chooses SBP on the page of a payment that leaves the method open, and pays. */
export const chooseAndPay = async (paymentUrl: string, signal: Signal = null): Promise<void> => {
  await postJson(`${paymentUrl}/method`, { method: 'sbp' }, signal);
  await pay(paymentUrl, 'sbp', signal);
};

/** Begins a payment on the page of a link; gives that payment's page. */
export const useLink = async (linkUrl: string, signal: Signal = null): Promise<string> => {
  const { headers } = await post(linkUrl, { body: new URLSearchParams(), signal });
  const location = headers.get('location');
  if (location === null) throw new Failure('refused', `${linkUrl} led to no payment`);
  return new URL(location, linkUrl).href;
};
