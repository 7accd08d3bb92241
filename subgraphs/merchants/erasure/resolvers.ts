/** GraphQL resolver for erasing personal data. */
import type { MutationResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../platform/database/orm.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { erasePersonalData } from './erase-personal-data.ts';

/** The mutation that erases; it writes an audit entry. */
export const eraseMutations = ({ database }: { readonly database: Database }) =>
  ({
    personalDataErase: async (_, given, context) => {
      const erased = await erasePersonalData(database, context, given);
      return isRefusal(erased) ? erased : { ...erased, __typename: 'PersonalDataErased' };
    },
  }) satisfies MutationResolvers;
