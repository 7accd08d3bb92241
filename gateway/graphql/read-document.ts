/**
 * Reads a client's text as a document that may run: parsed, valid and within the limits. Documents
 * are cached, since consoles repeat themselves, and found by their hash, like persisted queries.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, GraphQLError, type DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { rateOwner } from '../callers/limits.ts';
import type { Supergraph } from '../supergraph.ts';
import { codedError } from './errors.ts';

const remembered = 1_000;
/** Longer texts are not cached. */
const rememberedText_max = 32_768;

interface ReadText {
  readonly text: string;
  readonly document: DocumentNode;
}

/** Opens the reader. Without `introspection` a document that queries the schema is invalid. */
export const openDocumentReader = (
  { mistakesIn }: Pick<Supergraph, 'mistakesIn'>,
  introspection: boolean,
) => {
  const known = new LRUCache<string, ReadText>({ max: remembered });
  return {
    /** The document, or the errors in it, and why it cannot be read now. */
    read: async (
      text: string,
      principal: Principal,
    ): Promise<DocumentNode | readonly GraphQLError[]> => {
      const hash = createHash('sha256').update(text).digest('hex');
      const before = known.get(hash);
      if (before) return before.document;
      const mistakes = await mistakesIn(text, rateOwner(principal), introspection).catch(
        (thrown: unknown) => {
          if (thrown instanceof GraphQLError) return [thrown];
          throw thrown;
        },
      );
      if (mistakes.length > 0) return mistakes;
      const document = parse(text);
      if (text.length <= rememberedText_max) known.set(hash, { text, document });
      return document;
    },
    /** A cached document by the SHA-256 of its text in hex. */
    byHash: (hash: string): ReadText | undefined => known.get(hash),
  };
};
export type DocumentReader = ReturnType<typeof openDocumentReader>;

// The documents that a session of the console may run: those of the console itself, by their names.
// A stolen cookie can run only these; documents of one's own are for bearers.

/** A request of the console: its operation and the version of the page. */
interface NamedRequest {
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

const manifest = v.object({ version: v.string(), operations: v.record(v.string(), v.string()) });

const readManifest = lazily(() =>
  v.parse(
    manifest,
    JSON.parse(
      readFileSync(
        join(import.meta.dirname, '../../schema/generated/console-operations.json'),
        'utf8',
      ),
    ),
  ),
);

/**
 * The text of the operation that is named; an error for a page of another version, and for what is
 * no operation of the console.
 */
export const consoleDocument = ({
  operationName,
  extensions,
}: NamedRequest): string | GraphQLError => {
  const { version } = readManifest();
  if (extensions?.['console'] !== version)
    return codedError('console_outdated', 'This page is from another version: reload it.');
  return (
    consoleOperation(operationName ?? '') ??
    codedError('bad_request', 'A session runs only the operations of the console.')
  );
};

/** The version of the console's operations, which a page names with each of them. */
export const consoleVersion = (): string => readManifest().version;

/** The text of an operation of the console, for any page; null if there is none. */
export const consoleOperation = (name: string): string | null => {
  const { operations } = readManifest();
  return Object.hasOwn(operations, name) ? (operations[name] ?? null) : null;
};
