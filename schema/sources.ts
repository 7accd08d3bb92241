/** Reads what is written by hand: the SDL of the subgraphs and the named operations. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type DocumentNode } from 'graphql';

const here = import.meta.dirname;

export const subgraphNames = ['payments', 'payouts', 'recurring', 'merchants'] as const;
export type SubgraphName = (typeof subgraphNames)[number];

/** The SDL of one subgraph, as written. */
export const readSubgraphSdl = (name: SubgraphName): DocumentNode =>
  parse(readFileSync(join(here, `${name}.graphql`), 'utf8'));

/** Every named operation and fragment, in one document. */
export const readOperations = (): DocumentNode =>
  parse(
    readdirSync(join(here, 'operations'))
      .filter((file) => file.endsWith('.graphql'))
      .toSorted()
      .map((file) => readFileSync(join(here, 'operations', file), 'utf8'))
      .join('\n'),
  );

/**
 * Subgraphs that others, and the gateway, ask directly, by operations that are no part of the
 * public graph.
 */
export const askedSubgraphs = [
  'payments',
  'payouts',
  'recurring',
  'merchants',
] as const satisfies readonly SubgraphName[];

/** Every named operation that a subgraph is asked with directly, in one document. */
export const readInternalOperations = (name: (typeof askedSubgraphs)[number]): DocumentNode =>
  parse(readFileSync(join(here, 'internal', `${name}.graphql`), 'utf8'), { noLocation: true });
