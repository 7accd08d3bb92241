/** Reads what `npm run generate` has made, so that a start need not. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueryPlan } from '@apollo/query-planner';
import { buildSchema, type GraphQLSchema } from 'graphql';
import type { SubgraphName } from './sources.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** The SDL of the composed graph, for the query planner. */
export const readSupergraph = (): string => read('supergraph.graphql');

/** The schema that clients see. A test compares it with that of the supergraph. */
export const readApiSchema = (): GraphQLSchema =>
  buildSchema(read('generated/api.graphql'), { assumeValidSDL: true, noLocation: true });

/** The SDL of a subgraph with what federation adds to it. */
export const readWholeSdl = (name: SubgraphName): string => read(`generated/${name}.graphql`);

/** The query plan of each named query and mutation, by its name. */
export const readPlans = async (): Promise<Readonly<Record<string, QueryPlan>>> => {
  const text = await readFile(join(import.meta.dirname, 'generated/plans.json'), 'utf8');
  const plans: unknown = JSON.parse(text);
  // The planner's own output, which the check `generated` holds to the schema.
  return plans as Readonly<Record<string, QueryPlan>>;
};
