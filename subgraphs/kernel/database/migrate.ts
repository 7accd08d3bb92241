/**
 * Migrations beside a running service. Each is a transaction of its own. One that does not get a
 * lock at once gives way, so that nobody waits behind it for long, and begins anew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM, Transaction } from '@mikro-orm/postgresql';
import { isLockTimeout } from './statement.ts';

/** How long a migration waits for a lock, and how long one of its statements may take. */
export const migrationLock_ms = 1_000;
const migrationStatement_ms = 60_000;
/** How often a migration that was not given its locks begins anew, and after how long a rest. */
const lockTries_max = 60;
const lockRest_ms = 1_000;

/**
 * Applies what is missing; gives the names applied. The caller sees to it that nobody else migrates
 * meanwhile.
 */
export const applyMigrations = async (orm: MikroORM): Promise<readonly string[]> => {
  const pending = await orm.migrator.getPending();
  for (const { name } of pending) await applyPatiently(orm, name, lockTries_max);
  return pending.map(({ name }) => name);
};

const applyPatiently = async (orm: MikroORM, name: string, tries: number): Promise<void> => {
  try {
    await apply(orm, name);
  } catch (error) {
    if (!isLockTimeout(error) || tries <= 1) throw error;
    await sleep(lockRest_ms);
    await applyPatiently(orm, name, tries - 1);
  }
};

// What cannot be in a transaction (an index made concurrently) runs on another connection, without
// these limits: it stops nobody.
const apply = (orm: MikroORM, name: string): Promise<unknown> =>
  orm.em.fork().transactional(async (em) => {
    await em.execute(
      `select set_config('lock_timeout', '${migrationLock_ms}', true), set_config('statement_timeout', '${migrationStatement_ms}', true)`,
    );
    await orm.migrator.up({
      migrations: [name],
      transaction: em.getTransactionContext<Transaction<object>>(),
    });
  });
