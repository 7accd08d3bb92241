/**
 * Texts of the graph that no record can hold. The REST API refuses them where it reads a body; this
 * is the same border for the graph.
 */
import { GraphQLError } from 'graphql';
import { isPlainText } from '../../rules/block.ts';

const isHolder = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isUsable = (value: unknown): boolean => {
  if (typeof value === 'string') return isPlainText(value);
  return (
    !isHolder(value) ||
    Object.keys(value).every((name) => isPlainText(name) && isUsable(value[name]))
  );
};

/**
 * Throws `bad_request`, naming the argument, when a text in it has U+0000 or half of a surrogate
 * pair: PostgreSQL accepts neither.
 */
export const assertPlainTexts = (args: Readonly<Record<string, unknown>>): void => {
  const unusable = Object.keys(args).find((name) => !isUsable(args[name]));
  if (unusable === undefined) return;
  throw new GraphQLError(`${unusable}: expected texts without U+0000 and unpaired surrogates`, {
    extensions: { code: 'bad_request' },
  });
};
