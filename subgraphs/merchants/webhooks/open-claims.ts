/**
 * The claiming of one process: its lanes claim together, since a claim is a transaction, however
 * much it takes.
 */
import {
  claimDeliveries,
  claimLane,
  type Asking,
  type ClaimedDelivery,
  type ClaimParts,
} from './claim-deliveries.ts';

/** Claims due deliveries of one lane, at most so many. */
export type ClaimLane = (lane: string, limit: number) => Promise<readonly ClaimedDelivery[]>;

interface Waiting extends Asking {
  readonly answer: PromiseWithResolvers<readonly ClaimedDelivery[]>;
}

/** From one claim to the next of a process: a claim is a transaction, however much it takes. */
const claimPause_ms = 5;
const lanesPerClaim_max = 100;

/**
 * Opens the claiming of one process: lanes that ask at nearly the same time are served by one
 * transaction. A lane that asks alone does not wait.
 */
export const openClaims = (parts: ClaimParts): ClaimLane => {
  let waiting: Waiting[] = [];
  let isClaiming = false;
  let last_ms = -Infinity;
  const serve = async (): Promise<void> => {
    const served = waiting.slice(0, lanesPerClaim_max);
    waiting = waiting.slice(lanesPerClaim_max);
    last_ms = performance.now();
    try {
      const claimed = Map.groupBy(await claimDeliveries(parts, served), ({ lane }) => lane);
      for (const { lane, answer } of served) answer.resolve(claimed.get(lane) ?? []);
    } catch {
      // One lane must not hold up those that happened to ask with it.
      await Promise.all(
        served.map(({ answer, ...asking }) =>
          claimLane(parts, asking).then(answer.resolve, answer.reject),
        ),
      );
    }
    isClaiming = false;
    if (waiting.length > 0) begin();
  };
  const begin = (): void => {
    isClaiming = true;
    const wait_ms = last_ms + claimPause_ms - performance.now();
    if (wait_ms > 0) setTimeout(() => void serve(), wait_ms);
    else setImmediate(() => void serve());
  };
  return (lane, limit) => {
    const answer = Promise.withResolvers<readonly ClaimedDelivery[]>();
    waiting.push({ lane, limit, answer });
    if (!isClaiming) begin();
    return answer.promise;
  };
};
