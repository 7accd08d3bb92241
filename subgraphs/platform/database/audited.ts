/**
 * What the audit log shows of an entity. The entity's definition decides: the properties that
 * belong to a view (`groups`), each under its `serializedName` and through its `serializer` where
 * it has them. A `hidden` property, such as a sealed secret, is never shown.
 * The unit of work refuses to write an entity that has a view unless the change is recorded.
 */
import {
  ChangeSetType,
  Utils,
  wrap,
  type ChangeSet,
  type EntityMetadata,
  type EntityProperty,
  type EventSubscriber,
  type FlushEventArgs,
} from '@mikro-orm/core';

/** The part of an entity's state that a view shows. Moments and amounts may be among the values. */
export type AuditedState = Readonly<Record<string, unknown>> | null;

/** The view of an action that names no other. */
const usualView = 'audit';

/**
 * A view of an entity, with the values that `read` returns; null if the entity has no such view.
 */
const stateIn = (
  view: string,
  meta: EntityMetadata,
  read: (property: EntityProperty) => unknown,
): AuditedState => {
  const shown = meta.props.filter(({ groups, hidden }) => !hidden && groups?.includes(view));
  const entries = shown.map((property): readonly [string, unknown] => {
    const { name, serializedName = name, serializer } = property;
    const value = read(property) ?? null;
    return [serializedName, serializer ? serializer(value) : value];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : null;
};

/** What a view shows of an entity as it is. */
const stateOf = (entity: object, view = usualView): AuditedState => {
  const values = new Map<string, unknown>(Object.entries(entity));
  return stateIn(view, wrap(entity, true).__meta, ({ name }) => values.get(name));
};

/** What a view shows of an entity as it was when the unit of work read it. */
const formerState = ({ entity, meta }: ChangeSet<object>, view: string) => {
  const original = wrap(entity, true).__originalEntityData;
  if (!original) return null;
  const values = new Map<string, unknown>(Object.entries(original));
  const platform = wrap(entity, true).__platform;
  return stateIn(view, meta, ({ name, customType }) => {
    const stored = values.get(name) ?? null;
    return customType && stored !== null ? customType.convertToJSValue(stored, platform) : stored;
  });
};

const isRemoval = ({ type }: ChangeSet<object>): boolean =>
  type === ChangeSetType.DELETE || type === ChangeSetType.DELETE_EARLY;

/**
 * The states before and after of one change, read from the unit of work as it is flushed. Belongs
 * to one entity manager, that of the change's transaction.
 */
export class ChangeRecord implements EventSubscriber {
  readonly #view: string;
  #before: AuditedState = null;
  #after: AuditedState = null;
  #changed = false;

  constructor(view = usualView) {
    this.#view = view;
  }

  onFlush({ uow }: FlushEventArgs): void {
    for (const change of uow.getChangeSets()) {
      const [before, after] = [formerState(change, this.#view), stateOf(change.entity, this.#view)];
      if (!after) continue;
      // What is replaced is the state before, and what takes its place the one after.
      this.#before ??= before;
      if (!isRemoval(change)) this.#after = after;
      this.#changed = true;
    }
  }

  /** The states; those of `unchanged` are equal when nothing was written. */
  states(unchanged: unknown): { readonly before: AuditedState; readonly after: AuditedState } {
    if (this.#changed || !Utils.isEntity<object>(unchanged))
      return { before: this.#before, after: this.#after };
    const state = stateOf(unchanged, this.#view);
    return { before: state, after: state };
  }
}

/** Refuses what would be written without a record of the change. */
export const refuseUnrecorded: EventSubscriber = {
  onFlush: ({ em, uow }) => {
    const isRecorded = em
      .getEventManager()
      .getSubscribers()
      .values()
      .some((subscriber) => subscriber instanceof ChangeRecord);
    const unrecorded = uow
      .getChangeSets()
      .find(({ meta }) => meta.props.some(({ groups }) => groups));
    if (unrecorded && !isRecorded)
      throw new Error(`a change of ${unrecorded.meta.className} is to leave an audit entry`);
  },
};
