/** Compiles documents as the gateway does, with a planner in this thread. */
import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import type { DocumentNode } from 'graphql';
import {
  compileOperation,
  type OperationToCompile,
} from '../../gateway/compile/compiled-operation.ts';
import { readApiSchema, readSupergraph } from '../../schema/generated-files.ts';
import type { PreparedDocument } from '../../subgraphs/platform/graph/subgraph.ts';

const supergraph = Supergraph.build(readSupergraph());
const planner = new QueryPlanner(supergraph);
const apiSchema = readApiSchema();

/** The compiler over subgraphs. Throws CannotCompile on what the gateway does not compile. */
export const compilerOver =
  (executors: OperationToCompile['executors']) =>
  (document: DocumentNode): PreparedDocument =>
    compileOperation({
      document,
      plan: planner.buildQueryPlan(operationFromDocument(supergraph.apiSchema(), document)),
      apiSchema,
      executors,
      counts: false,
    });
