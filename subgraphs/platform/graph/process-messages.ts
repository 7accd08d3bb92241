/**
 * Concurrent operations in one request to a subgraph, as both sides write and read them.
 * The request is lines of JSON: first what its operations share, then an operation in each line.
 * The answer is a line for each operation, in the order of completion: a slow one does not delay
 * the others. Each operation has its caller's signature, and an invalid one is refused
 * individually.
 */
import * as v from 'valibot';
import { fields } from '../bus/bus.ts';

/** Below the address of a subgraph. */
export const batchPath = '/batch';
export const linesType = 'application/x-ndjson';

/** Operations in one request. */
export const batchOperations_max = 64;
/** Variables of an operation that shares a request; one with more has its own request. */
export const sharedVariables_max_characters = 4_096;

const place = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The first line: operations refer to its entries by position. */
export const batchHeadSchema = v.object({
  documents: v.array(v.string()),
  principals: v.array(v.string()),
});

export type BatchHead = v.InferOutput<typeof batchHeadSchema>;

export const batchOperationSchema = v.object({
  document: place,
  principal: place,
  requestId: v.string(),
  traceparent: v.optional(v.string()),
  variables: v.optional(fields, {}),
});

export type BatchOperation = v.InferOutput<typeof batchOperationSchema>;

/** One answer: that of a separate request, with the place of its operation. */
export const batchAnswerSchema = v.object({
  operation: place,
  status: v.number(),
  answer: v.unknown(),
});
