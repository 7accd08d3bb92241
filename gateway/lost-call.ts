/** How a call to a subgraph ends without its answer. */

/** Another status than 200: a balancer's word, or that of a subgraph that could not run it. */
export class AnsweredOtherwise extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`answered ${status}`);
    this.status = status;
  }
}

/** What a connection says that breaks under a request. */
const broken: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/**
 * Whether the called process died, or a balancer says so, and another one may answer. A timeout
 * does not count.
 */
export const isLost = (thrown: unknown): boolean => {
  if (thrown instanceof AnsweredOtherwise) return thrown.status === 502 || thrown.status === 503;
  return thrown instanceof Error && 'code' in thrown && broken.includes(thrown.code);
};
