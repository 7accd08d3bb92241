/**
 * Why a webhook was not answered, or not sent: a closed list for people's languages, beside the
 * error in words.
 */
import type { enums } from '../../../schema/generated/enums.ts';
import { errorCode } from '../../platform/tracing/error-code.ts';

export type WebhookFault = (typeof enums.WebhookFault)[number];

/** The target may not be connected to. */
export class RefusedTarget extends Error {
  readonly fault: WebhookFault;

  constructor(message: string, fault: 'target_forbidden' | 'name_unknown') {
    super(message);
    this.name = 'RefusedTarget';
    this.fault = fault;
  }
}

const faults: Readonly<Record<string, WebhookFault>> = {
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'name_unknown',
  EAI_AGAIN: 'name_unknown',
  EPROTO: 'tls',
};

/** Codes of OpenSSL and Node about certificates and handshakes. */
const tlsCode = /^(?:ERR_(?:TLS|SSL)_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** What kind of error a request ended with. */
export const faultOf = (error: unknown): WebhookFault => {
  if (error instanceof RefusedTarget) return error.fault;
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const code = errorCode(error);
  return faults[code] ?? (tlsCode.test(code) ? 'tls' : 'other');
};
