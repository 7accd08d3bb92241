/**
 * The framework's parser of JSON bodies, which refuses a field that comes twice, too, and a number
 * that is not written as an integer.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { duplicateMistake } from './duplicate-field.ts';
import { numberMistake, withoutMark } from './exact-numbers.ts';

/** A body that is JSON and says something wrong. The message may be sent to the caller. */
export class BodyMistake extends Error {
  readonly statusCode = 400;
}

type Done = (error: Error | null, value?: unknown) => void;

/** What is wrong with a text that the framework has parsed; null when nothing is. */
const mistakeIn = (text: string, value: unknown): string | null =>
  duplicateMistake(text, value) ?? numberMistake(text);

/** Opens the parser for a scope. It fails with the framework's error, or with BodyMistake. */
export const openJsonParser = (
  scope: FastifyInstance,
): ((request: FastifyRequest, text: string, done: Done) => void) => {
  const parse = scope.getDefaultJsonParser('error', 'error');
  return (request, sent, done) => {
    const text = withoutMark(sent);
    void parse(request, text, (error, value: unknown) => {
      const mistake = error ? null : mistakeIn(text, value);
      if (mistake === null) done(error, value);
      else done(new BodyMistake(mistake));
    });
  };
};
