/** A document of a client or of our own, and how it is run. */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Call } from '../subgraphs/platform/access/principal.ts';

/**
 * A document to run. It is parsed already; its plan and prepared parts are cached for as long as
 * the document object exists.
 */
export interface GraphRequest {
  readonly document: DocumentNode;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Runs a query or mutation that has been read. Never rejects. */
export type ExecuteGraphRequest = (request: GraphRequest, call: Call) => Promise<ExecutionResult>;
