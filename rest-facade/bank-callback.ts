/**
 * Where acquirers notify us that something has happened: one route for each acquirer of the
 * installation, which brings its path and its check itself. Nothing that a notification describes
 * is believed: the acquirer is asked about the operation that it names. Duplicates, reordering and
 * losses are harmless.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { AddressOf } from '../gateway/callers/caller-address.ts';
import type { Supergraph } from '../gateway/supergraph.ts';
import type {
  NotificationRoute,
  NotifiedOperation,
} from '../subgraphs/kernel/service/bank-notifications.ts';
import type { Call } from '../subgraphs/kernel/service/access/principal.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';
import { isCanonicalUuid } from '../subgraphs/kernel/rules/uuid.ts';

export interface BankCallbackParts {
  readonly addressOf: AddressOf;
  readonly routes: readonly NotificationRoute[];
}

const bodyLimit_bytes = 65_536;
const unasked = 'a notification of a bank led to no answer; the schedules will ask';

/**
 * Adds the routes. What is accepted is answered 200 at once; the bank is asked afterwards, and by
 * the schedules when that fails.
 */
export const takeBankCallbacks = async (
  app: FastifyInstance,
  { addressOf, routes }: BankCallbackParts,
  { supergraph, log }: { readonly supergraph: Pick<Supergraph, 'operation'>; readonly log: Logger },
): Promise<void> => {
  const askOfPayment = supergraph.operation('AskBankOfPayment');
  const askOfPayout = supergraph.operation('AskBankOfPayout');
  const call = async ({
    merchantId,
    operationId: id,
    isPayout,
  }: NotifiedOperation): Promise<void> => {
    const edge: Call = {
      principal: { kind: 'edge', name: 'bank-callback' },
      requestId: randomUUID(),
    };
    const { errors } = await (isPayout ? askOfPayout : askOfPayment).run({ merchantId, id }, edge);
    if (errors?.length) log.warn({ operationId: id, requestId: edge.requestId }, unasked);
  };
  const ask = (operation: NotifiedOperation): void =>
    void call(operation).catch((error: unknown) => log.warn({ err: error }, unasked));
  for (const route of routes) {
    app.post<{ Params: Record<string, string> }>(
      route.path,
      { bodyLimit: bodyLimit_bytes },
      async (request, reply) => {
        const { params: parameters, body } = request;
        const notification = { address: addressOf(request.raw), parameters, body };
        if (!route.verify(notification)) return reply.code(403).send();
        const operation = route.read(notification);
        if (
          operation &&
          isCanonicalUuid(operation.merchantId) &&
          isCanonicalUuid(operation.operationId)
        )
          ask(operation);
        const { acknowledgement } = route;
        return acknowledgement === null
          ? reply.code(200).send()
          : reply.code(200).type('text/plain').send(acknowledgement);
      },
    );
  }
};
