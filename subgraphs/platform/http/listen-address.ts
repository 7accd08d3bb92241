/**
 * Whether a process can listen at its configured address, checked before it creates anything; if
 * not, the reason in a readable sentence.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../tracing/error-code.ts';

/** Where a process listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The settings that name it, for the sentence. */
  readonly settings: { readonly host: string; readonly port: string };
}

const reasons: Readonly<Record<string, (address: ListenAddress) => string>> = {
  EADDRINUSE: ({ settings }) =>
    `another program listens there; stop it, or set ${settings.port} to another port`,
  EACCES: ({ settings }) =>
    `this user may not listen on that port; set ${settings.port} to one above 1023`,
  EADDRNOTAVAIL: ({ settings }) =>
    `this machine does not have that address; set ${settings.host} to one of its own`,
  ENOTFOUND: ({ settings }) =>
    `no address belongs to that name; set ${settings.host} to an address of this machine`,
};

/** The reason why a server cannot listen, as one sentence; other errors unchanged. */
export const explainListening = (error: unknown, address: ListenAddress): unknown => {
  const reason = reasons[errorCode(error)];
  if (!reason) return error;
  return new Error(
    `The service cannot listen on ${address.host}:${address.port}: ${reason(address)}.`,
    { cause: error },
  );
};

/** Resolves when this process can listen there, and rejects when it cannot. */
export const tryListening = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  await once(server.listen({ host, port }), 'listening');
  server.close();
  await once(server, 'close');
};

/** The same for a configured address; rejects with one sentence for a person. */
export const ensureFree = (address: ListenAddress): Promise<void> =>
  tryListening(address.host, address.port).catch((error: unknown) => {
    throw explainListening(error, address);
  });
