/**
 * T-Bank among the acquirers. It notifies us at an address that each order names, with the
 * merchant in its path; the message carries the same token as every other of the terminal.
 */
import * as v from 'valibot';
import type { Reader } from '../../platform/config/read-variables.ts';
import type { Connector } from '../connector.ts';
import { connector, readTBank, type TBankConfig, hasToken } from './client.ts';
import type { NotifiedReceipt } from '../../platform/http/bank-notifications.ts';
import { orNull, part, text } from '../bank-http.ts';
import { code } from './wire.ts';

/*
 * The notification of a receipt's result: `Status` RECEIPT. Its numbers show whether a cash register
 * is connected: without one the bank only repeats its input.
 */

const message = v.object({
  Status: v.literal('RECEIPT'),
  OrderId: text,
  Success: v.boolean(),
  Amount: v.pipe(v.number(), v.safeInteger()),
  Type: v.string(),
  ErrorCode: orNull(code),
  ErrorMessage: orNull(text),
  FnNumber: orNull(code),
  FiscalDocumentNumber: orNull(code),
  FiscalDocumentAttribute: orNull(code),
  ReceiptDatetime: orNull(text),
  Receipt: part({ Items: orNull(v.array(part({ PaymentMethod: orNull(text) }))) }),
});

const reason_max = 200;
/** The bank's days and hours. */
const timeZone = 'Europe/Moscow';

/** A moment in ISO 8601, with an offset or in Moscow, or as `31.12.2026 23:59:00`. */
const momentIn = (written: string | null): string | null => {
  const [, day, month, year, time] = /^(\d\d)\.(\d\d)\.(\d{4}) ([\d:]+)$/.exec(written ?? '') ?? [];
  const iso = day ? `${year}-${month}-${day}T${time}` : (written ?? '');
  try {
    return (
      /(Z|[+-]\d\d:?\d\d)$/.test(iso)
        ? Temporal.Instant.from(iso)
        : Temporal.PlainDateTime.from(iso).toZonedDateTime(timeZone).toInstant()
    ).toString();
  } catch {
    return null;
  }
};

const prepaid: ReadonlySet<string> = new Set(['full_prepayment', 'prepayment', 'advance']);

/**
 * The identity of the receipt. A closing one follows a prepayment, and has none itself; callers
 * that know that there is no closing one read it as the payment's.
 */
const typeOf = ({ Type: type, Receipt: { Items: items } }: v.InferOutput<typeof message>) => {
  if (/return/i.test(type)) return 'refund';
  const isPrepaid = (items ?? []).some(({ PaymentMethod }) => prepaid.has(PaymentMethod ?? ''));
  return isPrepaid || !items ? 'payment' : 'closing';
};

const fiscalOf = ({
  FnNumber: storageNumber,
  FiscalDocumentNumber: documentNumber,
  FiscalDocumentAttribute: attribute,
  ReceiptDatetime: written,
}: v.InferOutput<typeof message>): NotifiedReceipt['fiscal'] =>
  storageNumber !== null && documentNumber !== null && attribute !== null
    ? { storageNumber, documentNumber, attribute, registeredAt: momentIn(written) }
    : null;

/** What a verified message states of a receipt; null when it is about something else. */
export const receiptIn = (merchantId: string, body: unknown): NotifiedReceipt | null => {
  const { success, output } = v.safeParse(message, body);
  if (!success) return null;
  const isDone = output.Success && (output.ErrorCode ?? '0') === '0';
  const fiscal = isDone ? fiscalOf(output) : null;
  const refusal = ['T-Bank:', output.ErrorCode, output.ErrorMessage].filter(
    (each) => each !== null,
  );
  const failure = isDone ? 'T-Bank has no cash register connected' : refusal.join(' ');
  return {
    merchantId,
    paymentId: output.OrderId,
    type: typeOf(output),
    amount: output.Amount,
    fiscal,
    failureReason: fiscal ? null : failure.slice(0, reason_max),
  };
};

const signedMessage = v.looseObject({ TerminalKey: v.string(), OrderId: v.string() });

/** Our operation's id in a message that our own terminal signed; null in any other. */
const operationIn = (
  { terminal, password }: Pick<TBankConfig, 'terminal' | 'password'>,
  body: unknown,
): string | null => {
  const { success, output } = v.safeParse(signedMessage, body);
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
      connector,
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
