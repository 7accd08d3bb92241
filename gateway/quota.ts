/** How many of something each caller has at a time. */
import type { Principal } from '../subgraphs/kernel/service/principal.ts';

export interface Quota {
  /** Takes one of the caller's; gives it back by calling the answer, once. Null when the caller has as many as allowed. */
  take(principal: Principal): (() => void) | null;
}

/** A quota of `most` for each caller. */
export const openQuota = (most: number): Quota => {
  const taken = new Map<string, number>();
  return {
    take: (principal) => {
      const caller = nameOfCaller(principal);
      const has = taken.get(caller) ?? 0;
      if (has >= most) return null;
      taken.set(caller, has + 1);
      let given = false;
      return () => {
        if (given) return;
        given = true;
        const left = (taken.get(caller) ?? 1) - 1;
        if (left > 0) taken.set(caller, left);
        else taken.delete(caller);
      };
    },
  };
};

const nameOfCaller = (principal: Principal): string => {
  switch (principal.kind) {
    case 'key':
      return `key ${principal.keyId}`;
    case 'operator':
      return `operator ${principal.subject}`;
    case 'buyer':
      return `buyer ${principal.merchantId} ${principal.paymentId}`;
    case 'service':
      return `service ${principal.name}`;
  }
};
