/** A subgraph as its callers see it: the context of a call, and the executor of documents. */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Call } from '../access/principal.ts';
import type { SharedLoads } from './event-loads.ts';

/** What a resolver gets beside its arguments. One per call. */
export interface SubgraphContext extends Call {
  /** The clock, read at the border. */
  readonly now: () => Temporal.Instant;
  /** What its loaders are kept by where it shares them with other calls (`event-loads`). */
  readonly loads?: SharedLoads;
}

/** Runs one prepared document. Never rejects: what goes wrong is in `errors`. */
export type PreparedDocument = (
  variables: Readonly<Record<string, unknown>>,
  call: Call,
) => Promise<ExecutionResult>;

/** Runs documents on one subgraph, in this process or in another. */
export interface SubgraphExecutor {
  /**
   * Parses, validates and compiles once; the answer runs it. Results hold wire values (numbers,
   * strings), never bigint.
   */
  prepare(document: DocumentNode): PreparedDocument;
}
