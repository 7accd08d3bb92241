/** Concurrency limits: how many of something each caller has at the same time. */
import type { OperatorPrincipal, Principal } from '../../subgraphs/platform/access/principal.ts';

interface Quota {
  /**
   * Takes one for the caller; the returned function releases it. Null when the caller has as many
   * as allowed.
   */
  take(principal: Principal): (() => void) | null;
}

/** A concurrency limit by name. */
interface NamedQuota {
  /** Takes one; the returned function releases it. Null when the name has as many as allowed. */
  take(name: string): (() => void) | null;
}

/** Opens a limit of `limit` for each name. */
export const openNamedQuota = (limit: number): NamedQuota => {
  const taken = new Map<string, number>();
  return {
    take: (name) => {
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

/** Opens a limit of `limit` for each caller. */
export const openQuota = (limit: number): Quota => {
  const counts = openNamedQuota(limit);
  return { take: (principal) => counts.take(callerName(principal)) };
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

const callerName = (principal: Principal): string => {
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
