/**
 * The baseline: two fastify routes as one would write them by hand, with fastify's own validation
 * and serialisation by the contract's schemas. No key is looked up, nothing is signed, counted or
 * limited.
 */
import fastify, { type FastifyInstance } from 'fastify';
import { readContract } from '../../../rest-facade/read-contract.ts';
import type { CreateFields } from '../sent-statement.ts';

export interface BareAnswers {
  /** The JSON of a new payment. */
  create(body: CreateFields): object | Promise<object>;
  /** The JSON of a payment that is there. */
  read(id: string): object | Promise<object>;
}

/** The JSON schemas of an operation, as the contract has them. */
export const schemasOf = (name: 'CreatePayment' | 'GetPayment', status: '200' | '201') => {
  const operation = readContract().operations.get(name);
  const answer = operation?.responses[status];
  if (!operation || !answer) throw new Error(`the contract has no ${name}`);
  return {
    ...(operation.body ? { body: operation.body.schema } : {}),
    response: { [status]: answer },
  };
};

const idSchema = {
  type: 'object',
  properties: { id: { type: 'string', pattern: '^[0-9a-f-]{36}$' } },
};

/** A server with the two routes. */
export const openBareRoutes = (answers: BareAnswers): FastifyInstance => {
  const app = fastify({
    ajv: {
      customOptions: {
        strict: false,
        coerceTypes: false,
        removeAdditional: false,
        formats: { 'iso-4217': /^[A-Z]{3}$/, int64: true, int32: true },
      },
    },
  });
  app.post<{ Body: CreateFields }>(
    '/v1/public/payments',
    { schema: schemasOf('CreatePayment', '201') },
    async (request, reply) => {
      const created = await answers.create(request.body);
      return reply.code(201).send(created);
    },
  );
  app.get<{ Params: { id: string } }>(
    '/v1/public/payments/:id',
    { schema: { ...schemasOf('GetPayment', '200'), params: idSchema } },
    (request) => Promise.resolve(answers.read(request.params.id)),
  );
  return app;
};
