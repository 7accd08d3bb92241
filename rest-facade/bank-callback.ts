/**
 * Where an acquirer tells us that something has happened: POST /callbacks/yookassa, which is not
 * signed and taken only from the acquirer's own networks, and POST /callbacks/tbank/<merchant>,
 * which is signed. Nothing that they say is believed: they make us ask the acquirer about the
 * operation that they name. Duplicates, reordering and lost ones are harmless.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { AddressOf } from '../gateway/callers/caller-address.ts';
import { openNetworks } from '../gateway/callers/caller-address.ts';
import type { Supergraph } from '../gateway/supergraph.ts';
import type { Call } from '../subgraphs/kernel/service/access/principal.ts';
import type { Logger } from '../subgraphs/kernel/service/tracing/telemetry.ts';

export interface BankCallbackParts {
  readonly addressOf: AddressOf;
  /** Whence YooKassa's notifications come. */
  readonly yookassaNetworks: readonly string[];
  /**
   * Our operation's id in a notification that T-Bank signed, null in any other; null: this
   * installation has no terminal there.
   */
  readonly readTBank: ((body: unknown) => string | null) | null;
}

const bodyLimit_bytes = 65_536;
const unasked = 'a notification of a bank led to no answer; the schedules will ask';

interface Told {
  readonly merchantId: string;
  readonly operationId: string;
  readonly isPayout: boolean;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/**
 * Which operation a notification is about, by our own ids in its metadata; null when it has none.
 */
const readNotification = (body: unknown): Told | null => {
  const { event, object } = fields(body);
  const {
    merchant_id: merchantId,
    operation_id: operationId,
    payment_operation_id: paymentId,
  } = fields(fields(object)['metadata']);
  const id = typeof paymentId === 'string' ? paymentId : operationId;
  if (
    typeof merchantId !== 'string' ||
    typeof id !== 'string' ||
    !uuid.test(merchantId) ||
    !uuid.test(id)
  )
    return null;
  return {
    merchantId,
    operationId: id,
    isPayout: typeof event === 'string' && event.startsWith('payout.'),
  };
};

/**
 * Adds the route. What is accepted is answered 200 at once; the bank is asked afterwards, and by
 * the schedules when that fails.
 */
export const takeBankCallbacks = async (
  app: FastifyInstance,
  { addressOf, yookassaNetworks, readTBank }: BankCallbackParts,
  { supergraph, log }: { readonly supergraph: Pick<Supergraph, 'operation'>; readonly log: Logger },
): Promise<void> => {
  const isYooKassa = openNetworks(yookassaNetworks);
  const askOfPayment = supergraph.operation('AskBankOfPayment');
  const askOfPayout = supergraph.operation('AskBankOfPayout');
  const call = async ({ merchantId, operationId: id, isPayout }: Told): Promise<void> => {
    const edge: Call = {
      principal: { kind: 'edge', name: 'bank-callback' },
      requestId: randomUUID(),
    };
    const { errors } = await (isPayout ? askOfPayout : askOfPayment).run({ merchantId, id }, edge);
    if (errors?.length) log.warn({ operationId: id, requestId: edge.requestId }, unasked);
  };
  const ask = (told: Told): void =>
    void call(told).catch((error: unknown) => log.warn({ err: error }, unasked));
  app.post('/callbacks/yookassa', { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    if (!isYooKassa(addressOf(request.raw))) return reply.code(403).send();
    const told = readNotification(request.body);
    if (told) ask(told);
    return reply.code(200).send();
  });
  if (!readTBank) return;
  app.post<{ Params: { merchantId: string } }>(
    '/callbacks/tbank/:merchantId',
    { bodyLimit: bodyLimit_bytes },
    async (request, reply) => {
      const operationId = readTBank(request.body);
      if (operationId === null) return reply.code(403).send();
      const { merchantId } = request.params;
      // The address is not signed, the operation is: a wrong merchant has no such operation.
      if (uuid.test(merchantId) && uuid.test(operationId))
        ask({ merchantId, operationId, isPayout: false });
      return reply.code(200).type('text/plain').send('OK');
    },
  );
};
