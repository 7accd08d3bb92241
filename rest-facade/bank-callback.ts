/**
 * Receives the notifications of acquirers: one route for each acquirer, which defines its path and
 * its check. Notifications are not trusted: each one causes a query about the operation that it
 * names. The exception is a signed notification of a receipt. Duplicates, reordering and losses are
 * harmless.
 */
import type { FastifyInstance } from 'fastify';
import type { AddressOf } from '../subgraphs/platform/access/caller-address.ts';
import { edgeCall } from '../gateway/callers/caller.ts';
import type { Supergraph } from '../gateway/supergraph.ts';
import type {
  NotificationRoute,
  NotifiedOperation,
  NotifiedReceipt,
} from '../subgraphs/platform/http/bank-notifications.ts';
import type { Logger } from '../subgraphs/platform/tracing/telemetry.ts';
import { isCanonicalUuid } from '../subgraphs/rules/ids.ts';

export interface BankCallbackDeps {
  readonly addressOf: AddressOf;
  readonly routes: readonly NotificationRoute[];
}

/** A receipt of 100 items is repeated in a notification. */
const bodyLimit_bytes = 262_144;
const unasked = 'a notification of a bank led to no answer; the schedules will ask';
const unrecorded = 'a receipt that a bank has notified of was not recorded; it notifies again';

/**
 * Records a notification of a receipt, for which there is no query, before it is accepted. False if
 * the acquirer must repeat it, because its movement may not be known here yet, although the bank
 * was queried.
 */
const openReceiptRecord = (
  supergraph: Pick<Supergraph, 'operation'>,
  log: Logger,
): ((connector: string, receipt: NotifiedReceipt) => Promise<boolean>) => {
  const askOfPayment = supergraph.operation('AskBankOfPayment');
  const recordReceipt = supergraph.operation('RecordBankReceipt');
  return async (connector, receipt) => {
    const { merchantId, paymentId, type, amount, fiscal, failureReason } = receipt;
    // What names nothing of ours never will.
    if (!isCanonicalUuid(merchantId) || !isCanonicalUuid(paymentId)) return true;
    const call = edgeCall('bank-callback');
    const input = {
      merchantId,
      paymentId,
      type,
      amount,
      failureReason,
      fiscalStorageNumber: fiscal?.storageNumber ?? null,
      fiscalDocumentNumber: fiscal?.documentNumber ?? null,
      fiscalAttribute: fiscal?.attribute ?? null,
      registeredAt: fiscal?.registeredAt ?? null,
    };
    const recorded = async (): Promise<boolean> => {
      const { data, errors } = await recordReceipt.run({ input }, call);
      if (errors?.length) log.warn({ paymentId, requestId: call.requestId }, unrecorded);
      return !errors?.length && data?.['bankReceiptRecord'] !== 'early';
    };
    try {
      if (await recorded()) return true;
      await askOfPayment.run({ merchantId, id: paymentId, connector }, call);
      return await recorded();
    } catch (error) {
      log.warn({ err: error }, unrecorded);
      return false;
    }
  };
};

/**
 * Adds the routes. An accepted notification is answered 200 at once; the query follows, and the
 * schedules repeat it if it fails.
 */
export const takeBankCallbacks = async (
  app: FastifyInstance,
  { addressOf, routes }: BankCallbackDeps,
  { supergraph, log }: { readonly supergraph: Pick<Supergraph, 'operation'>; readonly log: Logger },
): Promise<void> => {
  const askOfPayment = supergraph.operation('AskBankOfPayment');
  const askOfPayout = supergraph.operation('AskBankOfPayout');
  const call = async (
    connector: string,
    { merchantId, operationId: id, isPayout }: NotifiedOperation,
  ): Promise<void> => {
    const edge = edgeCall('bank-callback');
    const { errors } = isPayout
      ? await askOfPayout.run({ merchantId, id }, edge)
      : await askOfPayment.run({ merchantId, id, connector }, edge);
    if (errors?.length) log.warn({ operationId: id, requestId: edge.requestId }, unasked);
  };
  const takeReceipt = openReceiptRecord(supergraph, log);
  const ask = (connector: string, operation: NotifiedOperation): void =>
    void call(connector, operation).catch((error: unknown) => log.warn({ err: error }, unasked));
  for (const route of routes) {
    app.post<{ Params: Record<string, string> }>(
      route.path,
      { bodyLimit: bodyLimit_bytes },
      async (request, reply) => {
        const { params: parameters, body } = request;
        const notification = { address: addressOf(request.raw), parameters, body };
        if (!route.verify(notification)) return reply.code(403).send();
        const receipt = route.readReceipt?.(notification) ?? null;
        if (receipt && !(await takeReceipt(route.connector, receipt)))
          return reply.code(503).send();
        const operation = receipt ? null : route.read(notification);
        if (
          operation &&
          isCanonicalUuid(operation.merchantId) &&
          isCanonicalUuid(operation.operationId)
        )
          ask(route.connector, operation);
        const { acknowledgement } = route;
        return acknowledgement === null
          ? reply.code(200).send()
          : reply.code(200).type('text/plain').send(acknowledgement);
      },
    );
  }
};
