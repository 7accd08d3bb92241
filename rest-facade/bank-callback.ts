/**
 * Where an acquirer tells us that something has happened: POST /callbacks/yookassa. It is not signed, so that nothing it says is believed: it is taken only from
 * the acquirer's own networks, and makes us ask the acquirer about the operation that it names. Duplicates, reordering and lost ones are harmless.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { AddressOf } from '../gateway/caller-address.ts';
import { openNetworks } from '../gateway/caller-address.ts';
import type { Supergraph } from '../gateway/supergraph.ts';
import type { Call } from '../subgraphs/kernel/service/principal.ts';
import type { Logger } from '../subgraphs/kernel/service/telemetry.ts';

export interface BankCallbackParts {
  readonly addressOf: AddressOf;
  /** Whence YooKassa's notifications come. */
  readonly yookassaNetworks: readonly string[];
}

const bodyLimit_bytes = 65_536;

interface Told {
  readonly merchantId: string;
  readonly operationId: string;
  readonly isPayout: boolean;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const fields = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === 'object' && value !== null ? { ...value } : {});

/** Which operation a notification is about, by our own ids in its metadata; null when it has none. */
const readNotification = (body: unknown): Told | null => {
  const { event, object } = fields(body);
  const { merchant_id: merchantId, operation_id: operationId, payment_operation_id: paymentId } = fields(fields(object)['metadata']);
  const id = typeof paymentId === 'string' ? paymentId : operationId;
  if (typeof merchantId !== 'string' || typeof id !== 'string' || !uuid.test(merchantId) || !uuid.test(id)) return null;
  return { merchantId, operationId: id, isPayout: typeof event === 'string' && event.startsWith('payout.') };
};

/** Adds the route. What is accepted is answered 200 at once; the bank is asked afterwards, and by the schedules when that fails. */
export const takeBankCallbacks = async (
  app: FastifyInstance,
  { addressOf, yookassaNetworks }: BankCallbackParts,
  { supergraph, log }: { readonly supergraph: Pick<Supergraph, 'operation'>; readonly log: Logger },
): Promise<void> => {
  const isYooKassa = openNetworks(yookassaNetworks);
  const askOfPayment = supergraph.operation('AskBankOfPayment');
  const askOfPayout = supergraph.operation('AskBankOfPayout');
  const ask = async ({ merchantId, operationId: id, isPayout }: Told): Promise<void> => {
    const call: Call = { principal: { kind: 'service', name: 'bank-callback' }, requestId: randomUUID() };
    const { errors } = await (isPayout ? askOfPayout : askOfPayment).run({ merchantId, id }, call);
    if (errors?.length) log.warn({ operationId: id, requestId: call.requestId }, 'a notification of YooKassa led to no answer; the schedules will ask');
  };
  app.post('/callbacks/yookassa', { bodyLimit: bodyLimit_bytes }, async (request, reply) => {
    if (!isYooKassa(addressOf(request.raw))) return reply.code(403).send();
    const told = readNotification(request.body);
    if (told) void ask(told).catch((error: unknown) => log.warn({ err: error }, 'a notification of YooKassa led to no answer; the schedules will ask'));
    return reply.code(200).send();
  });
};
