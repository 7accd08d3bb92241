/** The data that a caller may read. A key sees its shop and its mode; an operator a merchant's. */
import { GraphQLError } from 'graphql';
import { isUuid } from '../../rules/ids.ts';
import { isRefusal, type RefusalCode, type Refusal } from '../../rules/refusal.ts';
import type { KeyPrincipal, Principal } from './principal.ts';

/** A refusal of a query, where no union has a place for it: an error with its code. */
export const refusal = (code: RefusalCode, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

/** Throws the refusal as a query's error, else returns the result. */
export const orThrow = <Result extends object>(result: Result | Refusal): Result => {
  if (isRefusal(result)) throw refusal(result.code, result.message);
  return result;
};

/** The calling key. Access rows refuse other callers; this only narrows the type. */
export const keyOf = (principal: Principal): KeyPrincipal => {
  if (principal.kind !== 'key') throw refusal('scope_required', 'this operation is for API keys');
  return principal;
};

/** The call's merchant: a key's own, or the one that an operator names. */
export const merchantOf = (principal: Principal, named: string | null | undefined): string => {
  switch (principal.kind) {
    case 'key':
    case 'buyer':
      return principal.merchantId;
    case 'operator': {
      const merchantId = principal.merchantId ?? named;
      if (!merchantId) throw refusal('bad_request', 'merchantId: required');
      if (!isUuid(merchantId) || (named && merchantId !== named))
        throw refusal('not_found', 'there is no such merchant');
      return merchantId;
    }
    case 'service':
    case 'edge':
      if (!named) throw refusal('bad_request', 'merchantId: required');
      return named;
  }
};
