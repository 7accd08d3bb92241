/** Callers that share a turn in the lane of documents, live reads and lists. */
import type { Principal } from './principal.ts';

/** The header of a call in the lane on its way to a subgraph in another process. */
export const laneHeader = 'x-lane';
/** Its value for a call whose answer is measured (`AnswerMeter`); other calls' is empty. */
export const measuredInLane = 'measured';

/**
 * The name under which a call waits in the lane: all keys and buyers of a merchant share one, its
 * people another, and each person of the platform has their own. Null: it never waits.
 */
export const laneOf = (principal: Principal): string | null => {
  switch (principal.kind) {
    case 'key':
    case 'buyer':
      return `merchant ${principal.merchantId}`;
    case 'operator':
      return principal.merchantId === null
        ? `person ${principal.subject}`
        : `people ${principal.merchantId}`;
    case 'edge':
    case 'service':
      return null;
  }
};
