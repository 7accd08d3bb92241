/** The plain forms under /pay, which work without any script. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A card is the largest thing that is sent. */
export const formLimit_bytes = 2_048;

/** Adds the parser of plain forms to a scope. */
export const takeForms = (app: FastifyInstance): void => {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formLimit_bytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
};

/** The form that was sent; an empty one when it was none. */
export const formOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();
