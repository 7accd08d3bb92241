/**
 * Sets how fast a merchant may call (decision D-08). Its keys are forgotten everywhere, so that the
 * new limit holds at once.
 */
import type { MutationResolvers } from '../../../schema/generated/merchants.ts';
import { isUuid } from '../../kernel/database/load-by-key.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { columns, propertyNames, run, type Statement } from '../../kernel/database/statement.ts';
import type { Bus } from '../../kernel/rules/event.ts';
import { isRefused, refused } from '../../kernel/rules/refusal.ts';
import { changeWithAudit } from '../audit.ts';
import { MerchantEntity, type Merchant } from '../entities.ts';
import { rateLimitMistake, rateLimitOf } from '../rules/rate-limit.ts';

const merchantColumns = columns(propertyNames(MerchantEntity));
const lockMerchant: Statement = {
  name: 'rate_limit.lock',
  text: `select ${merchantColumns} from merchant where id = $1 for update`,
};
const setLimit: Statement = {
  name: 'rate_limit.set',
  text: `update merchant set rate_per_second = $2, rate_burst = $3 where id = $1 returning ${merchantColumns}`,
};

export interface RateLimitParts {
  readonly database: Pick<Database, 'pool'>;
  readonly bus: Bus;
}

/** The mutations about rate limits. */
export const rateLimitMutations = ({
  database,
  bus,
}: RateLimitParts): Pick<MutationResolvers, 'merchantRateLimitSet'> => ({
  merchantRateLimitSet: async (_, { merchantId, perSecond = null, burst = null }, context) => {
    const mistake = rateLimitMistake({ ratePerSecond: perSecond, rateBurst: burst });
    if (mistake) return refused('bad_request', mistake);
    if (!isUuid(merchantId)) return refused('not_found', 'there is no such merchant');
    const action = {
      action: 'merchant.rate_limit_set',
      merchantId,
      subject: { kind: 'merchant', id: merchantId },
    };
    const merchant = await changeWithAudit(database, context, action, async (client) => {
      const [before] = await run<Merchant>(client, lockMerchant, [merchantId]);
      const [after] = await run<Merchant>(client, setLimit, [merchantId, perSecond, burst]);
      if (!before || !after) return refused('not_found', 'there is no such merchant');
      return {
        before: { ...rateLimitOf(before) },
        after: { ...rateLimitOf(after) },
        result: after,
      };
    });
    if (isRefused(merchant)) return merchant;
    await bus.publish('keys', { merchantId });
    return { __typename: 'Merchant', ...merchant };
  },
});
