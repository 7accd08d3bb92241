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

/** Every operation and fragment of a folder, as one text. */
export const readFolder = (folder: string): string =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');

export const readOperations = (): DocumentNode => parse(readFolder(join(here, 'operations')));

/**
 * Every named operation that others, and the gateway, ask a subgraph with directly, in one document:
 * they are no part of the public graph.
 */
export const readInternalOperations = (name: SubgraphName): DocumentNode =>
  parse(readFileSync(join(here, 'internal', `${name}.graphql`), 'utf8'), { noLocation: true });
