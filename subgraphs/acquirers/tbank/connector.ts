/**
 * T-Bank among the acquirers. It notifies us at an address that each order names, with the
 * merchant in its path; the message carries the same token as every other of the terminal.
 */
import * as v from 'valibot';
import type { Reader } from '../../platform/config/read-variables.ts';
import type { Connector } from '../connector.ts';
import { readTBank, type TBankConfig, hasToken } from './client.ts';
import { receiptIn } from './receipt-notification.ts';

const message = v.looseObject({ TerminalKey: v.string(), OrderId: v.string() });

/** Our operation's id in a message that our own terminal signed; null in any other. */
const operationIn = (
  { terminal, password }: Pick<TBankConfig, 'terminal' | 'password'>,
  body: unknown,
): string | null => {
  const { success, output } = v.safeParse(message, body);
  return success && output.TerminalKey === terminal && hasToken(output, password)
    ? output.OrderId
    : null;
};

/** Null: this installation has no terminal. */
export const readTBankConnector = (read: Reader): Connector | null => {
  const config = readTBank(read);
  if (!config) return null;
  return {
    notifications: {
      connector: 'tbank',
      path: '/callbacks/tbank/:merchantId',
      verify: ({ body }) => operationIn(config, body) !== null,
      // The path is not signed, the operation is: a wrong merchant has no such operation.
      read: ({ parameters: { merchantId = '' }, body }) => {
        const operationId = operationIn(config, body);
        return operationId === null ? null : { merchantId, operationId, isPayout: false };
      },
      readReceipt: ({ parameters: { merchantId = '' }, body }) =>
        operationIn(config, body) === null ? null : receiptIn(merchantId, body),
      acknowledgement: 'OK',
    },
    open: async ({ pool, publicUrl }) => {
      const { openTBank } = await import('./open-tbank.ts');
      return openTBank(config, publicUrl, pool);
    },
  };
};
