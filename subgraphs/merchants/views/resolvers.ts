/** GraphQL resolvers for saved views: a person reads only its own. */
import { viewName_max_chars } from '../../../schema/limits.ts';
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  MutationResolvers,
  MutationsavedViewSaveArgs,
  QueryResolvers,
} from '../../../schema/generated/merchants.ts';
import type { Database, OnDatabase } from '../../platform/database/orm.ts';
import { refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import { merchantOf, asType, byVerb } from '../../platform/access/access.ts';
import {
  actorOf,
  changeEntities,
  removing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import { SavedViewEntity, type SavedView } from '../entities.ts';

/* Saves views of lists, each for one person. */

/* The limits of saved views. */

/** Views of one person, over all sections. */
const viewsPerPerson_max = 50;
const section_max_chars = 40;
const search_max_chars = 2_000;

/** What is wrong with a view; null when nothing is. */
const viewMistake = ({ section, name, search }: MutationsavedViewSaveArgs): string | null => {
  if (!/^[a-z][a-z-]*$/.test(section) || section.length > section_max_chars)
    return `section: expected up to ${section_max_chars} letters a to z`;
  if (name.trim() === '') return 'name: must not be empty';
  return (
    textMistake('name', name, 1, viewName_max_chars) ??
    textMistake('search', search, 0, search_max_chars)
  );
};

/** The owner of views: the issuer's name of the person, and its merchant or none. */
const ownerOf = ({ principal }: Pick<Acting, 'principal'>) => ({
  merchantId:
    principal.kind === 'operator' && principal.merchantId !== null
      ? merchantOf(principal, null)
      : platformMerchantId,
  subject: actorOf(principal).actor,
});

/** The caller's views by section and name, of one section when it is named. */
const findViews = (
  em: EntityManager,
  caller: Pick<Acting, 'principal'>,
  section: string | null,
): Promise<SavedView[]> =>
  em.find(
    SavedViewEntity,
    { ...ownerOf(caller), ...(section === null ? {} : { section }) },
    {
      orderBy: { section: 'asc', name: 'asc' },
      limit: viewsPerPerson_max,
      disableIdentityMap: true,
    },
  );

// A person's saves are serialized, so the limit holds.
const lockPerson: Statement = {
  name: 'saved_view.lock_person',
  text: `select pg_advisory_xact_lock(hashtextextended('saved_view ' || $1 || ' ' || $2, 0))`,
};

/**
 * Saves a view, replacing one of the same name in the section. `bad_request` for a wrong section,
 * name or search, and above the limit.
 */
const saveView = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  view: MutationsavedViewSaveArgs,
): Promise<SavedView | Refusal> => {
  const mistake = viewMistake(view);
  if (mistake) return refuse('bad_request', mistake);
  const owner = ownerOf(acting);
  const id = randomUUID();
  const { section, name, search } = view;
  const action: AuditedAction = { action: 'saved_view.save', merchantId: owner.merchantId, id };
  return changeEntities(database, acting, action, async (em) => {
    await run(await clientOf(em), lockPerson, [owner.merchantId, owner.subject]);
    const kept = await em.findOne(SavedViewEntity, { ...owner, section, name });
    if (kept) return em.assign(kept, { search, savedAt: acting.now() });
    if ((await em.count(SavedViewEntity, owner)) >= viewsPerPerson_max)
      return refuse('bad_request', `a person can save at most ${viewsPerPerson_max} views`);
    return em.create(SavedViewEntity, { ...owner, id, ...view, savedAt: acting.now() });
  });
};

/** The caller's views. */
export const viewQueries = ({ database }: OnDatabase<'emOf'>) =>
  ({
    savedViews: (_, { section }, context) =>
      findViews(database.emOf(context), context, section ?? null),
  }) satisfies QueryResolvers;

/** Saving and removing views. */
export const viewMutations = ({ database }: OnDatabase<'emOf'>) =>
  ({
    savedViewSave: byVerb('SavedView', saveView, database),
    savedViewDelete: async (_, { id }, context) => {
      const owner = ownerOf(context);
      const { merchantId } = owner;
      const action: AuditedAction = { action: 'saved_view.delete', merchantId, id };
      const remove = removing(SavedViewEntity, { ...owner, id }, 'view');
      return asType('SavedViewDeleted', await changeEntities(database, context, action, remove));
    },
  }) satisfies MutationResolvers;
