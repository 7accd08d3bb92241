/** Where `psp listen` is in the event log: kept on disk, so that it continues there after any end. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsFolder, writePrivate, type Environment } from './settings.ts';

/** The last event that was dealt with, or when listening began before the first one. */
export interface Place {
  readonly last: string | null;
  /** Null where listening began with an empty log. */
  readonly since: string | null;
}

/** The place of one listener: a key's log and the address to which it is forwarded. */
export interface Position {
  read(): Place | null;
  write(place: Place): void;
}

/** Opens the position of a key, an address and a choice of events. Nothing of the key is kept. */
export const openPosition = (env: Environment, ...of: readonly string[]): Position => {
  const name = createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 16);
  const path = join(settingsFolder(env), `listen-${name}.json`);
  return {
    read: () => {
      try {
        const { last, since } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Place>;
        return since === undefined ? null : { last: last ?? null, since };
      } catch {
        return null;
      }
    },
    write: (place) => writePrivate(path, `${JSON.stringify(place)}\n`),
  };
};
