/**
 * YooKassa among the acquirers. Its notifications are not signed: they are taken from its own
 * networks, and the operation is found by our ids in the metadata of what they are about.
 */
import * as v from 'valibot';
import { openAddressList } from '../../platform/access/caller-address.ts';
import type { NotifiedOperation } from '../../platform/http/bank-notifications.ts';
import type { Reader } from '../../platform/config/read-variables.ts';
import type { Connector } from '../connector.ts';
import { orNull, part } from '../bank-http.ts';
import { connector, readYooKassa } from './client.ts';

const message = part({
  event: orNull(v.string()),
  object: part({
    metadata: part({
      merchant_id: orNull(v.string()),
      operation_id: orNull(v.string()),
      payment_operation_id: orNull(v.string()),
    }),
  }),
});

const operationIn = (body: unknown): NotifiedOperation | null => {
  const { event, object } = v.parse(message, body);
  const { merchant_id: merchantId, operation_id: ownId, payment_operation_id } = object.metadata;
  // A refund is queried through its payment.
  const operationId = payment_operation_id ?? ownId;
  if (merchantId === null || operationId === null) return null;
  return { merchantId, operationId, isPayout: event?.startsWith('payout.') === true };
};

/** Always there: merchants may have accounts of their own. */
export const readYooKassaConnector = (read: Reader): Connector => {
  const config = readYooKassa(read);
  const isItsAddress = openAddressList(config.networks);
  return {
    notifications: {
      connector,
      path: '/callbacks/yookassa',
      verify: ({ address }) => isItsAddress(address),
      read: ({ body }) => operationIn(body),
      acknowledgement: null,
    },
    open: async ({ pool, vaultKey }) => {
      const [{ openYooKassa }, { openAccounts }] = await Promise.all([
        import('./open-yookassa.ts'),
        import('../bank-accounts.ts'),
      ]);
      const { shop: payments, payouts } = config;
      const accounts = openAccounts(pool, vaultKey, connector, { payments, payouts });
      return openYooKassa(config, accounts, pool);
    },
  };
};
