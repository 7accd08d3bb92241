/**
 * A client's text as a document that may run: parsed, valid and within the limits. Read texts are
 * remembered, since consoles repeat themselves, and found by their hash, as persisted queries are.
 */
import { createHash } from 'node:crypto';
import { parse, type DocumentNode, type GraphQLError } from 'graphql';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';
import type { Principal } from '../../subgraphs/kernel/service/access/principal.ts';
import { rateOwner } from '../callers/quota.ts';
import type { Supergraph } from '../supergraph.ts';

const remembered = 1_000;
/** Longer texts are read each time that they come. */
const rememberedText_max = 32_768;

interface ReadText {
  readonly text: string;
  readonly document: DocumentNode;
}

export interface DocumentReader {
  /**
   * The document, or what is wrong with it. Rejects with a GraphQLError when it cannot be read now.
   */
  read(text: string, principal: Principal): Promise<DocumentNode | readonly GraphQLError[]>;
  /** What was read, by the SHA-256 of its text in hex. */
  byHash(hash: string): ReadText | undefined;
}

/** Opens the reading. Without `introspection` a document that asks for the schema is wrong. */
export const openDocumentReader = (
  { mistakesIn }: Pick<Supergraph, 'mistakesIn'>,
  introspection = true,
): DocumentReader => {
  const known = new Lru<string, ReadText>(remembered);
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
