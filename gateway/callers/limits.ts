/** How many of something each caller has at the same time in this process, and callers' names. */
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

export type NamedQuota = ReturnType<typeof openNamedQuota>;

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
