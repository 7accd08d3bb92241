/**
 * T-Bank's notifications: signed by the same token as every message, so that what carries another
 * one is nobody's. They are acted on by asking.
 */
import type { TBankConfig } from './config.ts';
import { hasToken } from './token.ts';

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Our operation's id in a notification of our own terminal; null when it is not signed by it. */
export const readNotification = (
  { terminal, password }: Pick<TBankConfig, 'terminal' | 'password'>,
  body: unknown,
): string | null => {
  if (!isFields(body) || body['TerminalKey'] !== terminal || !hasToken(body, password)) return null;
  const { OrderId: operationId } = body;
  return typeof operationId === 'string' ? operationId : null;
};
