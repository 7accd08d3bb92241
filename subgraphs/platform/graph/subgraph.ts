/** A subgraph as its callers see it: the context of a call with its loaders, and the executor. */
import type { DocumentNode, ExecutionResult } from 'graphql';
import DataLoader from 'dataloader';
import type { Call } from '../access/principal.ts';
import { lazilyOf } from './lazily.ts';

/** What a resolver gets in addition to its arguments. One per call. */
export interface SubgraphContext extends Call {
  /** The clock, read at the border. */
  readonly now: () => Temporal.Instant;
}

/** Runs one prepared document. Never rejects: failures are in `errors`. */
export type PreparedDocument = (
  variables: Readonly<Record<string, unknown>>,
  call: Call,
) => Promise<ExecutionResult>;

/** Runs documents on one subgraph, in this process or in another. */
export interface SubgraphExecutor {
  /**
   * Parses, validates and compiles once; the returned function runs it. Results hold wire values
   * (numbers, strings), never bigint.
   */
  prepare(document: DocumentNode): PreparedDocument;
}

/**
 * Makes a loader of a call on demand, so that requests of a list's fields load together; `batch` answers in the order of the keys. Keys with the same
 * `nameOf` are equal.
 */
export const perCall = <Key, Value, Name = Key>(
  batch: (keys: readonly Key[], context: SubgraphContext) => Promise<readonly Value[]>,
  nameOf?: (key: Key) => Name,
) =>
  lazilyOf(
    (context: SubgraphContext) =>
      new DataLoader<Key, Value, Name>(
        (keys) => batch(keys, context),
        nameOf ? { cacheKeyFn: nameOf } : {},
      ),
  );
