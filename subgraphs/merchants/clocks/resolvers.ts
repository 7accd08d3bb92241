/** GraphQL resolvers for test clocks. */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import { merchantOf, refusal } from '../../platform/access/access.ts';
import {
  advanceClock,
  createClock,
  findClock,
  freezeClock,
  removeClock,
  resumeClock,
  type ClockVerbs,
  type ShownClock,
} from './test-clocks.ts';

const shown = (clock: ShownClock) => ({ ...clock, advancingTo: clock.targetAt });
const clockOr = (clock: ShownClock | Refusal) =>
  isRefusal(clock) ? clock : { __typename: 'TestClock' as const, ...shown(clock) };

const unnamed = (): never => {
  throw refusal('bad_request', 'shopId: required');
};

/** The shop of a key that reads its clock; null where it may not. */
const ofKey = ({ mode, shopId }: KeyPrincipal, named: string | null | undefined): string | null =>
  mode === 'test' && (named ?? shopId) === shopId ? shopId : null;

/** The query of a shop's test clock. */
export const clockQueries = ({
  database,
  realNow,
}: ClockVerbs): Pick<QueryResolvers, 'testClock'> => ({
  testClock: async (_, { merchantId, shopId }, context) => {
    const { principal } = context;
    const asked = principal.kind === 'key' ? ofKey(principal, shopId) : (shopId ?? unnamed());
    if (asked === null) return null;
    const shop = { merchantId: merchantOf(principal, merchantId), shopId: asked };
    const clock = await findClock(database.emOf(context), shop, realNow());
    return clock && shown(clock);
  },
});

type ClockMutation =
  | 'testClockCreate'
  | 'testClockAdvance'
  | 'testClockFreeze'
  | 'testClockResume'
  | 'testClockRemove';

/** The mutations of test clocks. Each writes an audit entry. */
export const clockMutations = (verbs: ClockVerbs): Pick<MutationResolvers, ClockMutation> => ({
  testClockCreate: async (_, input, context) => clockOr(await createClock(verbs, context, input)),
  testClockAdvance: async (_, input, context) => clockOr(await advanceClock(verbs, context, input)),
  testClockFreeze: async (_, shop, context) => clockOr(await freezeClock(verbs, context, shop)),
  testClockResume: async (_, shop, context) => clockOr(await resumeClock(verbs, context, shop)),
  testClockRemove: async (_, shop, context) => {
    const removed = await removeClock(verbs, context, shop);
    return isRefusal(removed) ? removed : { __typename: 'TestClockRemoved', ...removed };
  },
});
