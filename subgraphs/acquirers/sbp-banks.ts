/**
 * The directory of SBP participants (docs/contract.md#sbp-directory). An acquirer's list replaces
 * entries of the built-in one; participants that it does not name stay.
 */
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
  let reading: Promise<readonly SbpBank[]> | null = null;
  let readAt_ms = -Infinity;
  const read = (): Promise<readonly SbpBank[]> => {
    const began = database.fork().find(SbpBankEntity, {}).then(sortedWith);
    reading = began;
    readAt_ms = performance.now();
    began.catch(() => {
      if (reading === began) reading = null;
    });
    return began;
  };
  return {
    /** Every participant, sorted by its name in Russian; at most a minute old. */
    current: (): Promise<readonly SbpBank[]> =>
      reading && performance.now() - readAt_ms < kept_ms ? reading : read(),
    /** This process reads it again on the next use. */
    forget: (): void => void (reading = null),
  };
};

export type SbpDirectory = ReturnType<typeof openSbpDirectory>;
