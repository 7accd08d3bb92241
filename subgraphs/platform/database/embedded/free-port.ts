import { tryListening } from '../../http/listen-address.ts';

/**
 * Below the ephemeral port range: an outgoing connection on such a port would block a later
 * listener.
 */
const lowest = 16_384;
const highest = 32_767;

let next = lowest + Math.floor(Math.random() * (highest - lowest));

/**
 * A TCP port of 127.0.0.1 that is free at this moment and was not returned to this process before.
 * Another program may still take it, so the caller must be ready to fail.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = lowest; tries <= highest; tries += 1) {
    const port = next;
    next = port < highest ? port + 1 : lowest;
    const listening = tryListening('127.0.0.1', port);
    if (await listening.then(() => true).catch(() => false)) return port;
  }
  throw new Error('no TCP port is free');
};
