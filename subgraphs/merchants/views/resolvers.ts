/** GraphQL resolvers for saved views: a person reads only its own. */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { isRefused } from '../../kernel/rules/refusal.ts';
import { deleteView, findViews, saveView } from './saved-views.ts';

interface ViewParts {
  readonly database: Pick<Database, 'emOf'>;
}

/** The caller's views. */
export const viewQueries = ({ database }: ViewParts) =>
  ({
    savedViews: (_, { section }, context) =>
      findViews(database.emOf(context), context, section ?? null),
  }) satisfies QueryResolvers;

/** Saving and removing views. */
export const viewMutations = ({ database }: ViewParts) =>
  ({
    savedViewSave: async (_, view, context) => {
      const saved = await saveView(database, context, view);
      return isRefused(saved) ? saved : { ...saved, __typename: 'SavedView' };
    },
    savedViewDelete: async (_, { id }, context) => {
      const deleted = await deleteView(database, context, id);
      return isRefused(deleted) ? deleted : { ...deleted, __typename: 'SavedViewDeleted' };
    },
  }) satisfies MutationResolvers;
