/**
 * One line in the log when something that we depend on is lost, and one when it is back, however
 * many calls fail in between.
 */
import { errorCode } from './error-code.ts';
import type { Logger } from './telemetry.ts';

/** A server that goes down still answers some calls while it refuses others. */
const settle_ms = 1_000;

/**
 * PostgreSQL reported a conflict with other transactions (class 40, with deadlocks): it is
 * available.
 */
const isConflict = (error: unknown): boolean =>
  error instanceof Error && (errorCode(error).startsWith('40') || isConflict(error.cause));

/** Watches what is named `what`, and calls `onReturn` each time it is back. */
export const watchOutage = (what: string, log: Logger, onReturn: () => void = () => {}) => {
  let since: number | null = null;
  let failures = 0;
  let settling: NodeJS.Timeout | null = null;
  let silent = false;
  const unsettle = (): void => {
    if (settling) clearTimeout(settling);
    settling = null;
  };
  const over = (): void => {
    if (since !== null) log.info({ lost_ms: Date.now() - since, failures }, `the ${what} is back`);
    since = null;
    failures = 0;
    settling = null;
    onReturn();
  };
  return {
    /**
     * A call failed because the other side is unavailable. The first failure is logged. A conflict
     * does not count: the other side has answered.
     */
    began: (error: unknown): void => {
      if (silent || isConflict(error)) return;
      unsettle();
      failures += 1;
      if (since !== null) return;
      since = Date.now();
      log.error({ err: error }, `the ${what} is lost; trying until it is back`);
    },
    /**
     * A call was answered. When no other fails in the second that follows, the outage is over, and
     * that is logged.
     */
    ended: (): void => {
      if (since !== null && !silent) settling ??= setTimeout(over, settle_ms).unref();
    },
    /** We are closing: further failures are expected. */
    silence: (): void => {
      silent = true;
      unsettle();
    },
  };
};

export type Outage = ReturnType<typeof watchOutage>;
