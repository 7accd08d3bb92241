/**
 * Limits the concurrent exports of this process and decides whose page is read next. An export
 * reads one page at a time, so exports take turns.
 */
import { openNamedQuota, personName } from '../../gateway/callers/quota.ts';
import type { OperatorPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import { rateLimited, type Refusal } from '../refusal-http.ts';

/** Exports of one person at the same time. */
const exportsPerPerson_max = 2;
/** Exports of all people of one merchant at the same time. */
const exportsPerMerchant_max = 4;
/** Pages of exports that are read concurrently; the rest of the process continues meanwhile. */
const pagesAtOnce_max = 2;
const retryAfter_s = 5;

const tooMany = (limit: number, whose: string): Refusal =>
  rateLimited(`at most ${limit} exports ${whose} at a time; wait until one ends`, retryAfter_s);

export interface ExportLimits {
  /** Takes a place; the answer gives it back. A refusal when there is none. */
  readonly take: (person: OperatorPrincipal) => (() => void) | Refusal;
  /** Reads one page in its turn. */
  readonly inTurn: <Page>(read: () => Promise<Page>) => Promise<Page>;
}

/** Runs reads in their order, with limited concurrency. */
const openTurns = (): ExportLimits['inTurn'] => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (read) => {
    if (running >= pagesAtOnce_max) {
      // Whoever ends a turn passes it on: it stays counted.
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await promise;
    } else running += 1;
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
};

/** Opens the limits of this process. */
export const openExportLimits = (): ExportLimits => {
  const people = openNamedQuota(exportsPerPerson_max);
  const merchants = openNamedQuota(exportsPerMerchant_max);
  return {
    take: (person) => {
      const { merchantId } = person;
      const ofPerson = people.take(personName(person));
      if (!ofPerson) return tooMany(exportsPerPerson_max, 'of one person');
      const ofMerchant = merchantId === null ? () => {} : merchants.take(merchantId);
      if (!ofMerchant) {
        ofPerson();
        return tooMany(exportsPerMerchant_max, 'of one merchant');
      }
      return () => {
        ofPerson();
        ofMerchant();
      };
    },
    inTurn: openTurns(),
  };
};
