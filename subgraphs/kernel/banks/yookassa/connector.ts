/**
 * YooKassa among the acquirers. Its notifications are not signed: they are taken from its own
 * networks, and the operation is found by our ids in the metadata of what they are about.
 */
import { openAddressList } from '../../service/access/address-list.ts';
import type { Reader } from '../../service/config/read-variables.ts';
import type {
  Connector,
  ConnectorParts,
  NotificationRoute,
  NotifiedOperation,
  OpenedBank,
} from '../connector.ts';
import { readYooKassa, type YooKassaConfig } from './config.ts';

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const operationIn = (body: unknown): NotifiedOperation | null => {
  const { event, object } = fields(body);
  const {
    merchant_id: merchantId,
    operation_id: ownId,
    payment_operation_id: paymentId,
  } = fields(fields(object)['metadata']);
  // A refund is asked about through its payment.
  const operationId = typeof paymentId === 'string' ? paymentId : ownId;
  if (typeof merchantId !== 'string' || typeof operationId !== 'string') return null;
  const isPayout = typeof event === 'string' && event.startsWith('payout.');
  return { merchantId, operationId, isPayout };
};

export class YooKassaConnector implements Connector {
  readonly config: YooKassaConfig;

  constructor(config: YooKassaConfig) {
    this.config = config;
  }

  /** Always there: merchants may have accounts of their own. */
  static read(this: void, read: Reader): YooKassaConnector {
    return new YooKassaConnector(readYooKassa(read));
  }

  get notifications(): NotificationRoute {
    const isItsAddress = openAddressList(this.config.networks);
    return {
      path: '/callbacks/yookassa',
      verify: ({ address }) => isItsAddress(address),
      read: ({ body }) => operationIn(body),
      acknowledgement: null,
    };
  }

  async open({ pool, vaultKey }: ConnectorParts): Promise<OpenedBank> {
    const [{ connector, openYooKassa }, { openAccounts }] = await Promise.all([
      import('./open-yookassa.ts'),
      import('../bank-accounts.ts'),
    ]);
    const { shop: payments, payouts } = this.config;
    const accounts = openAccounts(pool, vaultKey, connector, { payments, payouts });
    return openYooKassa(this.config, accounts, pool);
  }
}
