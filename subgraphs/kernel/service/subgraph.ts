/** What every subgraph stands on: its call context, its guarded schema, its executor, its HTTP side. */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Call } from './principal.ts';

/** What a resolver gets beside its arguments. One per call. */
export interface SubgraphContext extends Call {
  /** A fork of its own: an identity map per call. */
  readonly em: EntityManager;
  /** The clock, read at the border (architecture decision 10). */
  readonly now: () => Temporal.Instant;
}

/** Runs documents on one subgraph, in this process or in another. */
export interface SubgraphExecutor {
  /** Parses, validates and compiles once; the answer runs it. Results hold wire values (numbers, strings), never bigint. */
  prepare(document: DocumentNode): (variables: Readonly<Record<string, unknown>>, call: Call) => Promise<ExecutionResult>;
}
