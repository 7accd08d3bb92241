/** What the calls of the emulated YooKassa have in common. */
import { randomUUID } from 'node:crypto';
import type { Books } from './books.ts';
import type { ApiRequest, ApiResponse } from './exchange.ts';
import type { openPublished } from './published.ts';
import type { CashRegister } from './receipts.ts';
import type { Notify } from './settle.ts';

export interface ApiDeps {
  readonly books: Books;
  /** Holds exchanges to the acquirer's published description too; null: there is no copy of it. */
  readonly published: ReturnType<typeof openPublished> | null;
  /** Where buyers confirm. */
  readonly base: string;
  readonly notify: Notify;
  readonly register: CashRegister;
  /** Whether the shops have a cash register. */
  readonly hasRegister: () => boolean;
}

export const apiError = (
  status: number,
  code: string,
  description: string,
  parameter?: string,
): ApiResponse => ({
  status,
  body: {
    type: 'error',
    id: randomUUID(),
    code,
    description,
    ...(parameter === undefined ? {} : { parameter }),
    ...(status >= 429 ? { retry_after: 50 } : {}),
  },
});

/** What an account may know: what it made itself. */
export const ownOf = <Thing extends { readonly account: string }>(
  thing: Thing | undefined,
  { account }: ApiRequest,
): Thing | undefined => (thing?.account === account ? thing : undefined);
