/** Limits of callers: how many of something each has at the same time, and how fast calls may come. */
import type { OperatorPrincipal, Principal } from '../../subgraphs/platform/access/principal.ts';

/**
 * Opens a limit of `limit` for each name. `take` takes one, and returns what releases it; null when
 * the name has as many as allowed.
 */
export const openNamedQuota = (limit: number) => {
  const taken = new Map<string, number>();
  return {
    take: (name: string): (() => void) | null => {
      const count = taken.get(name) ?? 0;
      if (count >= limit) return null;
      taken.set(name, count + 1);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        const left = (taken.get(name) ?? 1) - 1;
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
};

/** Runs so many at a time for each name; further ones wait, first come, first served. */
export const openTurns = (atOnce: number) => {
  const turns = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const own = turns.get(name) ?? { running: 0, waiting: [] };
    turns.set(name, own);
    if (own.running < atOnce) own.running += 1;
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is passed on directly, so that a newcomer cannot overtake one that waits.
      const next = own.waiting.shift();
      if (next) next();
      else if (--own.running === 0) turns.delete(name);
    }
  };
};

/**
 * Under which name a call is queued and rated: all keys of a merchant share one, each person has
 * their own.
 */
export const rateOwner = (principal: Principal): string =>
  principal.kind === 'key' ? `merchant ${principal.merchantId}` : callerName(principal);

/**
 * The name of a person among all callers: merchants have people of one name, who are not one
 * another.
 */
export const personName = ({
  merchantId,
  subject,
}: Pick<OperatorPrincipal, 'merchantId' | 'subject'>): string => `${merchantId ?? ''} ${subject}`;

export const callerName = (principal: Principal): string => {
  switch (principal.kind) {
    case 'key':
      return `key ${principal.keyId}`;
    case 'operator':
      return `operator ${personName(principal)}`;
    case 'buyer':
      return `buyer ${principal.merchantId} ${principal.paymentId}`;
    case 'edge':
    case 'service':
      return `${principal.kind} ${principal.name}`;
  }
};

// Token buckets. A bucket holds `burst` tokens and gains `perSecond` of them each second; a request
// takes one or, when it costs more, several. All that is stored of a bucket is the time at which it
// will be full again; the microseconds until then are its debt. The value of a token is rounded to
// the microsecond.

/**
 * How fast requests may come: `burst` at once, `perSecond` in the long run. Both are positive
 * integers.
 */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TakeResult {
  readonly granted: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again, rounded up. */
  readonly reset_s: number;
  /**
   * Seconds until there are as many tokens as were requested, rounded up and at least 1; 0 when
   * they were granted.
   */
  readonly retryAfter_s: number;
}

export interface Buckets {
  /**
   * Takes tokens out of the bucket, one by default, all or none. Null when the store is
   * unavailable.
   */
  take(
    name: string,
    limit: RateLimit,
    tokens?: number,
  ): TakeResult | null | Promise<TakeResult | null>;
  close(): void;
}

/** The value of one token in microseconds. */
export const token_us = ({ perSecond }: RateLimit): number => Math.round(1_000_000 / perSecond);

/** The result of an attempt to take `tokens` from a bucket that has this debt afterwards. */
export const takeResult = (
  granted: boolean,
  debt_us: number,
  limit: RateLimit,
  tokens = 1,
): TakeResult => {
  const token = token_us(limit);
  const left_us = token * limit.burst - debt_us;
  return {
    granted,
    remaining: Math.max(0, Math.floor(left_us / token)),
    reset_s: Math.ceil(debt_us / 1_000_000),
    retryAfter_s: granted ? 0 : Math.max(1, Math.ceil((token * tokens - left_us) / 1_000_000)),
  };
};
