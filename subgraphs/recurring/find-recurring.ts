/** Reads tokens of the key's mode. Tokens belong to the merchant, whatever the shop of the key. */
import { loadByKey } from '../platform/database/batch-calls.ts';
import { openList } from '../platform/database/lists.ts';
import { readPage, type Page, type PageQuery } from '../platform/database/keyset.ts';
import { columns, propertyNames, type Runner } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import type { Refusal } from '../rules/refusal.ts';
import { TokenEntity, type Token } from './tokens/entities.ts';
import { tokenStatuses } from './rules/token.ts';
import { listOfModes, recurringPage_max, wholeList } from './list-pages.ts';

const tokenColumns = columns(propertyNames(TokenEntity));

export const loadTokens = loadByKey<Token>('token', tokenColumns);

const tokensOf = listOfModes('tokens', 'token', tokenColumns);
const tokensOfCustomer = listOfModes('tokens_of_customer', 'token', tokenColumns, 'customer_ref');

/** Tokens as lists show them, filtered. */
export const listTokens = openList<Token>(
  {
    table: { name: 'token', filters: { status: tokenStatuses } },
    columns: tokenColumns,
    by: ['mode'],
  },
  null,
);

/** The filter of tokens: the merchant's in these modes, of one customer when given. */
export interface TokensQuery {
  readonly merchantId: string;
  readonly modes: readonly Mode[];
  readonly customerRef: string | null;
}

/** A page of the merchant's tokens, newest first; `bad_request` for a wrong size or cursor. */
export const pageOfTokens = (
  runner: Runner,
  { merchantId, modes, customerRef }: TokensQuery,
  page: PageQuery,
): Promise<Page<Token> | Refusal> => {
  const values = [merchantId, modes, ...(customerRef === null ? [] : [customerRef])];
  return readPage(
    runner,
    customerRef === null ? tokensOf : tokensOfCustomer,
    values,
    page,
    recurringPage_max,
  );
};

/**
 * All of the merchant's tokens, newest first; `bad_request` when there are more than a list may
 * hold.
 */
export const findTokens = (runner: Runner, query: TokensQuery): Promise<Token[] | Refusal> =>
  wholeList('tokens', (page) => pageOfTokens(runner, query, page));
