/** A client's text as a document that may run: parsed, valid and within the limits. Read texts are remembered, since consoles repeat themselves. */
import { GraphQLError, NoSchemaIntrospectionCustomRule, parse, specifiedRules, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { Lru } from '../subgraphs/kernel/service/lru.ts';
import { documentTokens_max, limitDocument } from './document-limits.ts';
import { finiteNumbers } from './finite-numbers.ts';

const remembered = 1_000;

/** Reads documents against the schema: the document, or what is wrong with it. Without `introspection` a document that asks for the schema is wrong. */
export const documentReader = (schema: GraphQLSchema, introspection = true): ((text: string) => DocumentNode | readonly GraphQLError[]) => {
  const rules = [...specifiedRules, limitDocument, finiteNumbers, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const known = new Lru<string, DocumentNode>(remembered);
  return (text) => {
    const before = known.get(text);
    if (before) return before;
    const document = parseText(text);
    if (document instanceof GraphQLError) return [document];
    const errors = validate(schema, document, rules);
    if (errors.length > 0) return errors.map((error) => asBadRequest(error));
    known.set(text, document);
    return document;
  };
};

const parseText = (text: string): DocumentNode | GraphQLError => {
  try {
    return parse(text, { maxLexicalTokens: documentTokens_max });
  } catch (error) {
    if (error instanceof GraphQLError) return asBadRequest(error);
    throw error;
  }
};

const asBadRequest = (error: GraphQLError): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    extensions: { ...error.extensions, code: 'bad_request' },
  });
