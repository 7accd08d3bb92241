import { GraphQLError } from 'graphql';

/** An error of a document as its caller sees it: a code, and a message for a person. */
export const codedError = (code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });
