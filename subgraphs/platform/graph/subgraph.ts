/** A subgraph as its callers see it: the context of a call, and the executor of documents. */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Call } from '../access/principal.ts';

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
