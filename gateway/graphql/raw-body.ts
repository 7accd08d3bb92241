/**
 * Request bodies as they were sent: a signature covers the bytes, and they are parsed only after
 * it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { emptyBody } from '../callers/check-caller.ts';
import { duplicateMistake } from './duplicate-field.ts';
import { numberMistake, withoutMark } from './exact-numbers.ts';

/*
 * The framework's parser of JSON bodies, which refuses a field that comes twice, too, and a number
 * that is not written as an integer.
 */

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

/** The bytes of a request's body. */
export const bytesOf = ({ body }: Pick<FastifyRequest, 'body'>): Uint8Array =>
  Buffer.isBuffer(body) ? body : emptyBody;

/**
 * Whether a body is compressed. None is accepted: its size would have to be bounded twice, and a
 * signature covers other bytes.
 */
export const isCompressed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  !['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase());

/** The header of a 415 which states that no compression is accepted (RFC 9110, 15.5.16). */
export const identityOnly = { 'accept-encoding': 'identity' };

class CompressedBody extends Error {
  readonly statusCode = 415;
}

/**
 * Makes the scope keep bodies as bytes, for the types that the framework parses by itself. Returns
 * the function that parses one as the framework would; it rejects with the framework's error,
 * with BodyMistake, or with an error of status 415 when the body is compressed.
 */
export const takeRawBodies = (
  scope: FastifyInstance,
): ((request: FastifyRequest) => Promise<unknown>) => {
  const parseJson = openJsonParser(scope);
  for (const type of ['application/json', 'text/plain']) {
    if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
    scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    );
  }
  return (request) => {
    if (isCompressed(request)) return Promise.reject(new CompressedBody('a compressed body'));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const text = Buffer.isBuffer(request.body) ? request.body.toString() : null;
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
    if (text === null || !isJson) resolve(text ?? undefined);
    else parseJson(request, text, (error, value) => (error ? reject(error) : resolve(value)));
    return promise;
  };
};
