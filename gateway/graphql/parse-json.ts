/** The framework's parser of JSON bodies, which refuses a field that comes twice, too. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { duplicateMistake } from './duplicate-field.ts';

/** A body in which a field comes twice. The message may be sent to the caller. */
export class DuplicateField extends Error {
  readonly statusCode = 400;
}

type Done = (error: Error | null, value?: unknown) => void;

/** Opens the parser for a scope. It fails with the framework's error, or with DuplicateField. */
export const openJsonParser = (
  scope: FastifyInstance,
): ((request: FastifyRequest, text: string, done: Done) => void) => {
  const parse = scope.getDefaultJsonParser('error', 'error');
  return (request, text, done) =>
    void parse(request, text, (error, value: unknown) => {
      const mistake = error ? null : duplicateMistake(text, value);
      if (mistake === null) done(error, value);
      else done(new DuplicateField(mistake));
    });
};
