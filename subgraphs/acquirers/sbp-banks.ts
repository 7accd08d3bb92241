/**
 * The directory of SBP participants (docs/contract.md#sbp-directory). An acquirer's list replaces
 * entries of the built-in one; participants that it does not name stay.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../platform/database/orm.ts';
import { SbpBankEntity } from './entities.ts';
import participants from './sbp-banks.json' with { type: 'json' };

export interface SbpBank {
  /** 12 digits. */
  readonly memberId: string;
  readonly name: string;
  readonly nameEn: string;
}

const byName = new Intl.Collator('ru', { sensitivity: 'base', numeric: true });

const bundled: readonly SbpBank[] = participants.map(
  ({ member_id: memberId, name, name_en: nameEn }) => ({ memberId, name, nameEn }),
);

const sortedWith = (listed: readonly SbpBank[]): readonly SbpBank[] =>
  [...new Map([...bundled, ...listed].map((bank) => [bank.memberId, bank])).values()].toSorted(
    (a, b) => byName.compare(a.name, b.name),
  );

const kept_ms = 60_000;

/** The directory of this process. Nothing is read until the first use. */
export const openSbpDirectory = (database: Pick<Database, 'fork'>) => {
  const kept = new LRUCache<'all', Promise<readonly SbpBank[]>>({ max: 1, ttl: kept_ms });
  const read = (): Promise<readonly SbpBank[]> => {
    const reading = database.fork().find(SbpBankEntity, {}).then(sortedWith);
    kept.set('all', reading);
    reading.catch(() => kept.delete('all'));
    return reading;
  };
  return {
    /** Every participant, sorted by its name in Russian; at most a minute old. */
    current: (): Promise<readonly SbpBank[]> => kept.get('all') ?? read(),
    /** This process reads it again on the next use. */
    forget: (): void => kept.clear(),
  };
};

export type SbpDirectory = ReturnType<typeof openSbpDirectory>;
