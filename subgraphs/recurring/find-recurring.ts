/** Reading tokens. Decision D-03c: they are the merchant's, whatever the shop of the key; D-38: of the key's mode. */
import { loadByKey } from '../kernel/database/load-by-key.ts';
import { columns, propertyNames, run, type Runner, type Statement } from '../kernel/database/statement.ts';
import type { Mode } from '../kernel/rules/mode.ts';
import { TokenEntity, type Token } from './entities.ts';

const tokenColumns = columns(propertyNames(TokenEntity));

export const loadTokens = loadByKey<Token>('token', tokenColumns);

const tokensOf: Statement = {
  name: 'tokens_of_merchant',
  text: `select ${tokenColumns} from token where merchant_id = $1 and mode = any ($2) and ($3::text is null or customer_ref = $3) order by created_at desc, id desc`,
};

/** The merchant's tokens in these modes, newest first, of one customer when given. */
export const findTokens = (runner: Runner, merchantId: string, modes: readonly Mode[], customerRef: string | null): Promise<Token[]> =>
  run(runner, tokensOf, [merchantId, modes, customerRef]);
