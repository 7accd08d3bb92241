/**
 * Reads a client's text as a document that may run: parsed, valid and within the limits. Documents
 * are cached, since consoles repeat themselves, and found by their hash, like persisted queries.
 */
import { createHash } from 'node:crypto';
import { parse, type DocumentNode, type GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { rateOwner } from '../callers/quota.ts';
import type { Supergraph } from '../supergraph.ts';

const remembered = 1_000;
/** Longer texts are not cached. */
const rememberedText_max = 32_768;

interface ReadText {
  readonly text: string;
  readonly document: DocumentNode;
}

export interface DocumentReader {
  /** The document, or the errors in it. Rejects with a GraphQLError when it cannot be read now. */
  read(text: string, principal: Principal): Promise<DocumentNode | readonly GraphQLError[]>;
  /** A cached document by the SHA-256 of its text in hex. */
  byHash(hash: string): ReadText | undefined;
}

/** Opens the reader. Without `introspection` a document that queries the schema is invalid. */
export const openDocumentReader = (
  { mistakesIn }: Pick<Supergraph, 'mistakesIn'>,
  introspection = true,
): DocumentReader => {
  const known = new LRUCache<string, ReadText>({ max: remembered });
  return {
    read: async (text, principal) => {
      const hash = createHash('sha256').update(text).digest('hex');
      const before = known.get(hash);
      if (before) return before.document;
      const mistakes = await mistakesIn(text, rateOwner(principal), introspection);
      if (mistakes.length > 0) return mistakes;
      const document = parse(text);
      if (text.length <= rememberedText_max) known.set(hash, { text, document });
      return document;
    },
    byHash: (hash) => known.get(hash),
  };
};
