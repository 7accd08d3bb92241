/**
 * T-Bank among the acquirers. It notifies us at an address that each order names, with the
 * merchant in its path; the message carries the same token as every other of the terminal.
 */
import { looseObject, safeParse, string } from 'valibot';
import type { Notification, NotificationRoute } from '../../platform/http/bank-notifications.ts';
import type { Reader } from '../../platform/config/read-variables.ts';
import type { Connector, ConnectorDeps, OpenedBank } from '../connector.ts';
import { readTBank, type TBankConfig, hasToken } from './client.ts';
import { receiptIn } from './receipt-notification.ts';

const message = looseObject({ TerminalKey: string(), OrderId: string() });

/** Our operation's id in a message that our own terminal signed; null in any other. */
const operationIn = (
  { terminal, password }: Pick<TBankConfig, 'terminal' | 'password'>,
  body: unknown,
): string | null => {
  const { success, output } = safeParse(message, body);
  return success && output.TerminalKey === terminal && hasToken(output, password)
    ? output.OrderId
    : null;
};

export class TBankConnector implements Connector {
  readonly config: TBankConfig;

  constructor(config: TBankConfig) {
    this.config = config;
  }

  /** Null: this installation has no terminal. */
  static read(this: void, read: Reader): TBankConnector | null {
    const config = readTBank(read);
    return config && new TBankConnector(config);
  }

  get notifications(): NotificationRoute {
    const { config } = this;
    return {
      connector: 'tbank',
      path: '/callbacks/tbank/:merchantId',
      verify: ({ body }) => operationIn(config, body) !== null,
      // The path is not signed, the operation is: a wrong merchant has no such operation.
      read: ({ parameters: { merchantId = '' }, body }: Notification) => {
        const operationId = operationIn(config, body);
        return operationId === null ? null : { merchantId, operationId, isPayout: false };
      },
      readReceipt: ({ parameters: { merchantId = '' }, body }) =>
        operationIn(config, body) === null ? null : receiptIn(merchantId, body),
      acknowledgement: 'OK',
    };
  }

  async open({ pool, publicUrl }: ConnectorDeps): Promise<OpenedBank> {
    const { openTBank } = await import('./open-tbank.ts');
    return openTBank(this.config, publicUrl, pool);
  }
}
