/**
 * GraphQL resolvers for the event log: a key reads its own shop's, a person that of a named shop.
 */
import type {
  QueryResolvers,
  Resolvers,
  QueryeventLogArgs,
} from '../../../schema/generated/merchants.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { withMaskedRecipient } from '../../rules/recipient.ts';
import { isUuid } from '../../rules/ids.ts';
import type { OfShop } from '../../platform/graph/entities.ts';
import { perCall } from '../../platform/graph/subgraph.ts';
import type { Principal } from '../../platform/access/principal.ts';
import { merchantOf, orThrow, refusal } from '../../platform/access/access.ts';
import type { WebhookDelivery } from '../entities.ts';
import { findDeliveriesOfEvents } from '../find-merchants.ts';
import type { LoggedEvent } from '../rows.ts';
import { findLoggedEvent, publicIdOf, readEventLog } from './read-event-log.ts';

type NamedShop = Pick<QueryeventLogArgs, 'merchantId' | 'shopId' | 'mode'>;

/** The log's shop and mode. A key reads its own. */
export const shopOf = (principal: Principal, { merchantId, shopId, mode }: NamedShop): OfShop => {
  if (principal.kind === 'key') return principal;
  const named = merchantOf(principal, merchantId);
  if (!shopId || !isUuid(shopId)) throw refusal('bad_request', 'shopId: required');
  return { merchantId: named, shopId, mode: mode ?? 'live' };
};

export const eventLogQueries = ({ database }: OnDatabase<'pool' | 'fork'>) =>
  ({
    eventLog: async (_, { merchantId, shopId, mode, ...query }, { principal }) =>
      orThrow(await readEventLog(database, shopOf(principal, { merchantId, shopId, mode }), query)),
    loggedEvent: (_, { id, ...named }, { principal }) =>
      findLoggedEvent(database.fork(), shopOf(principal, named), id),
  }) satisfies QueryResolvers;

export const eventLogFields = ({ database }: OnDatabase<'emOf'>) => {
  const deliveriesOf = perCall<LoggedEvent, WebhookDelivery[]>((events, context) =>
    findDeliveriesOfEvents(database.emOf(context), events),
  );
  return {
    LoggedEvent: {
      id: publicIdOf,
      event: ({ webhookEvent }) => webhookEvent,
      data: ({ webhookBody }, _, { principal }) =>
        principal.kind === 'key' ? dataOf(webhookBody) : withMaskedRecipient(dataOf(webhookBody)),
      deliveries: (event, _, context) => deliveriesOf(context).load(event),
    },
  } satisfies Resolvers;
};

const dataOf = (body: string): Record<string, unknown> =>
  (JSON.parse(body) as { data: Record<string, unknown> }).data;
