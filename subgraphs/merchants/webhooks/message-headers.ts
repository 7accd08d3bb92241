/** The headers of a webhook: as sent, and as shown later without the signature. */
import { type Keys, unseal } from '../../platform/access/keys.ts';
import type { Message } from './claim-deliveries.ts';
import { sign, signStandard, type SignatureFormat } from './rules.ts';

const fixedHeaders = (id: string) => ({
  'Content-Type': 'application/json',
  'User-Agent': 'psp-webhook/1.0',
  'X-PSP-Event-Id': id,
});

/**
 * The headers of docs/contract.md#webhook-signatures. The timestamp is the real time, even for a
 * shop with a test clock, since the receiver compares it with its own clock. Throws when a secret
 * cannot be read.
 */
export const signedHeaders = (
  vaultKey: Keys,
  eventId: string,
  { body, signature, secretSealed, previousSealed }: Message,
): Record<string, string> => {
  const current = unseal(vaultKey, secretSealed);
  const previous = previousSealed === null ? null : unseal(vaultKey, previousSealed);
  const [secrets, id, now] = [{ current, previous }, `evt_${eventId}`, Temporal.Now.instant()];
  return {
    ...fixedHeaders(id),
    ...(signature === 'standard'
      ? signStandard(secrets, id, body, now)
      : sign(secrets, body, now, signature)),
  };
};

/** Placeholders of a signature's parts. */
const shapes: Readonly<Record<Exclude<SignatureFormat, 'standard'>, Record<string, string>>> = {
  v2: { 'X-PSP-Signature': 't=<unix>,v1=<hex>,v2=<hex>', 'X-PSP-Timestamp': '<unix>' },
  stripe: { 'X-PSP-Signature': 't=<unix>,v1=<hex>,v2=<hex>', 'X-PSP-Timestamp': '<unix>' },
  legacy: { 'X-PSP-Signature': 'sha256=<hex>' },
};

/** The headers of every attempt of an event, except the signature and its moment. */
export const shownHeaders = (
  eventId: string,
  signature: SignatureFormat,
): Record<string, string> => {
  const id = `evt_${eventId}`;
  const signed =
    signature === 'standard'
      ? { 'webhook-id': id, 'webhook-timestamp': '<unix>', 'webhook-signature': 'v1,<base64>' }
      : shapes[signature];
  return { ...fixedHeaders(id), ...signed };
};

/** A header as the graph has it. */
export interface ListedHeader {
  readonly name: string;
  readonly value: string;
}

/** The headers as a list. */
export const listHeaders = (headers: Readonly<Record<string, string>>): ListedHeader[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
