/** How many of something each caller has at a time. */
import type { Principal } from '../../subgraphs/kernel/service/access/principal.ts';

export interface Quota {
  /**
   * Takes one of the caller's; gives it back by calling the answer, once. Null when the caller has
   * as many as allowed.
   */
  take(principal: Principal): (() => void) | null;
}

/** How many of something each name has at a time. */
export interface Count {
  /**
   * Takes one; gives it back by calling the answer, once. Null when the name has as many as
   * allowed.
   */
  take(name: string): (() => void) | null;
}

/** A count that allows `most` for each name. */
export const openCount = (most: number): Count => {
  const taken = new Map<string, number>();
  return {
    take: (name) => {
      const has = taken.get(name) ?? 0;
      if (has >= most) return null;
      taken.set(name, has + 1);
      let given = false;
      return () => {
        if (given) return;
        given = true;
        const left = (taken.get(name) ?? 1) - 1;
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
};

/** A quota of `most` for each caller. */
export const openQuota = (most: number): Quota => {
  const count = openCount(most);
  return { take: (principal) => count.take(nameOfCaller(principal)) };
};

/**
 * Whose turn, or whose tokens, a call takes: the merchant's for its keys, and each person's own.
 */
export const nameOfPayer = (principal: Principal): string =>
  principal.kind === 'key' ? `merchant ${principal.merchantId}` : nameOfCaller(principal);

const nameOfCaller = (principal: Principal): string => {
  switch (principal.kind) {
    case 'key':
      return `key ${principal.keyId}`;
    case 'operator':
      return `operator ${principal.subject}`;
    case 'buyer':
      return `buyer ${principal.merchantId} ${principal.paymentId}`;
    case 'edge':
    case 'service':
      return `${principal.kind} ${principal.name}`;
  }
};
