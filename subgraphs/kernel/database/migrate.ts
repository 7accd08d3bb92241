/**
 * Migrations on a running service. Each is its own transaction. A migration that does not get a
 * lock at once gives way, so that other sessions do not wait behind it for long, and starts again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM, Transaction } from '@mikro-orm/postgresql';
import { isLockTimeout } from './statement.ts';

/** How long a migration waits for a lock, and how long one of its statements may take. */
export const migrationLock_ms = 1_000;
const migrationStatement_ms = 60_000;
/** How often a migration that did not get its locks starts again, and the delay before it. */
const lockTries_max = 60;
const lockRest_ms = 1_000;

/**
 * Applies the missing migrations; returns their names. The caller ensures that no other process
 * migrates meanwhile.
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

// Statements that cannot run in a transaction (an index made concurrently) run on another
// connection, without these limits: they block no other session.
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
