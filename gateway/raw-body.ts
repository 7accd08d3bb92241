/** Bodies of the graph's requests as they were sent: a signature is over the bytes, and what they mean is read only after it (decision D-09). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { emptyBody } from './check-caller.ts';

/** The bytes of a request's body. */
export const bytesOf = ({ body }: Pick<FastifyRequest, 'body'>): Uint8Array => (Buffer.isBuffer(body) ? body : emptyBody);

/**
 * Has the scope keep bodies as bytes, those of the types that the framework reads by itself. Gives the way to read one as the framework would; it rejects with
 * the framework's error.
 */
export const takeRawBodies = (scope: FastifyInstance): ((request: FastifyRequest) => Promise<unknown>) => {
  const parseJson = scope.getDefaultJsonParser('error', 'error');
  for (const type of ['application/json', 'text/plain']) {
    if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
    scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  }
  return (request) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const text = Buffer.isBuffer(request.body) ? request.body.toString() : null;
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
    if (text === null || !isJson) resolve(text ?? undefined);
    else void parseJson(request, text, (error, value: unknown) => (error ? reject(error) : resolve(value)));
    return promise;
  };
};
