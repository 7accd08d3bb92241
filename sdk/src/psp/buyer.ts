/** A buyer's actions on the hosted page and at the simulated bank, as requests. */
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

/** Sends what the page sends. */
export const postJson = (url: string, body: object, signal: Signal): Promise<Response> => {
  const headers = { 'content-type': 'application/json' };
  return post(url, { headers, body: JSON.stringify(body), signal });
};

/** A card that the simulated bank accepts. */
export const testCard = {
  number: '4111111111111111',
  expiry: '12/39',
  cvc: '123',
  holder: 'TEST BUYER',
};

/** Pays on the page of a payment whose method is fixed. */
export const pay = async (
  paymentUrl: string,
  method: 'sbp' | 'cards',
  signal: Signal = null,
): Promise<void> =>
  void (await postJson(`${paymentUrl}/pay`, method === 'cards' ? { card: testCard } : {}, signal));

/** Chooses SBP on the page of a payment without a fixed method, and pays. */
export const chooseAndPay = async (paymentUrl: string, signal: Signal = null): Promise<void> => {
  await postJson(`${paymentUrl}/method`, { method: 'sbp' }, signal);
  await pay(paymentUrl, 'sbp', signal);
};

/** Starts a payment on the page of a link; returns that payment's page. */
export const useLink = async (linkUrl: string, signal: Signal = null): Promise<string> => {
  const { headers } = await post(linkUrl, { body: new URLSearchParams(), signal });
  const location = headers.get('location');
  if (location === null) throw new Failure('refused', `${linkUrl} led to no payment`);
  return new URL(location, linkUrl).href;
};

/** Sends a form of the page. */
export const postForm = (
  url: string,
  fields: Record<string, string>,
  signal: Signal,
): Promise<Response> => post(url, { body: new URLSearchParams(fields), signal });

/** What the page of a payment shows. */
export interface PageState {
  readonly paymentId: string;
  readonly mode: 'test' | 'live';
  readonly status: string;
  readonly method: string;
  /** What the buyer may choose from. */
  readonly methods: readonly string[];
  /** What the bank needs from the buyer; null while it has no order. */
  readonly step: string | null;
  readonly failureCode: string | null;
  /** What the simulated bank will do; null for a live payment. */
  readonly plannedOutcome: string | null;
}

/** Reads the state of a payment's page. */
export const readPage = async (paymentUrl: string, signal: Signal): Promise<PageState> => {
  const response = await fetch(`${paymentUrl}/state`, { signal });
  if (!response.ok)
    throw new Failure('refused', `there is no test payment at ${paymentUrl} (${response.status})`);
  // The page's own script reads the same.
  return (await response.json()) as PageState;
};
