/** Numbers in documents that no number of ours can hold. */
import { GraphQLError, type FloatValueNode, type IntValueNode, type ValidationRule } from 'graphql';

/**
 * A validation rule: a number such as `1e400` is beyond every scalar, and the query planner, which
 * makes Infinity of it, cannot write it down again.
 */
export const finiteNumbers: ValidationRule = (context) => {
  const check = (node: FloatValueNode | IntValueNode): void => {
    if (!Number.isFinite(Number(node.value)))
      context.reportError(new GraphQLError('a number is too large', { nodes: [node] }));
  };
  return { FloatValue: check, IntValue: check };
};
