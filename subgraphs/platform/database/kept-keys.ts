/**
 * Keys that outlive a secret key, or that some processes must not have. They are stored in the
 * database, sealed with the vault's key. Each secret key has a generation of them, named by the id
 * of its vault key.
 * `fingerprint`: a block list's fingerprint of a card cannot be recomputed when the secret key
 * changes, since the card's number is not stored. So the keys of all generations are kept and
 * compared.
 * `service`: random. A process of the edge has the secret key but no database, so it cannot act as
 * a service.
 * `customer`: random. It seals buyers' data in receipts, in as many rows as there are receipts: a
 * change of the secret key reseals the key, not the rows.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { InferEntity } from '@mikro-orm/core';
import type { Secrets } from '../config/config.ts';
import { allKeys, currentKey, keyIdOf, seal, sealedWith, unseal } from '../access/keys.ts';
import type { ServiceKeys } from '../access/principal.ts';
import { outsideOfLane } from '../access/lane.ts';
import type { Logger } from '../tracing/telemetry.ts';
import { KeptKeyEntity } from './entities.ts';
import type { Database } from './orm.ts';

/** Personal data of buyers, sealed at rest. */
export interface CustomerVault {
  /** Seals a text with this generation's key. */
  seal(text: string): string;
  /** Reads what was sealed by any generation. Rejects what was sealed with none of their keys. */
  open(sealed: string): Promise<string>;
}

interface KeptKeysDeps {
  readonly database: Pick<Database, 'fork'>;
  readonly secrets: Pick<Secrets, 'vault' | 'fingerprint'>;
  readonly log: Logger;
}

const key_bytes = 32;
/** After the database was unavailable, or has not been migrated. */
const retry_ms = 500;
/** An unknown generation is looked up again after this: it may have been added since. */
const lookAgain_ms = 1_000;

export class KeptKeys {
  /** Of all generations. The list grows until `ready`. */
  readonly fingerprint: [Buffer, ...Buffer[]];
  /** What processes that work on the record sign with when they speak for themselves. */
  readonly service: ServiceKeys = {
    own: async () => {
      const key = await this.service.find(this.#generation);
      if (!key)
        throw new Error(
          `the service's key of this SECRET_KEY is sealed with another one: set that as SECRET_KEY_PREVIOUS`,
        );
      return { id: this.#generation, key };
    },
    find: async (generation) => {
      const found = this.#services.get(generation);
      if (found || !this.#known.has(generation)) return found ?? null;
      await this.#lookAgain();
      return this.#services.get(generation) ?? null;
    },
  };
  /** Seals what receipts say of buyers. */
  readonly customers: CustomerVault = {
    seal: (text) => {
      if (!this.#customer) throw new Error('the kept keys have not been read yet');
      return seal(this.#customer, text);
    },
    open: async (sealed) => {
      // A process of another generation may have made its key since.
      if (!this.#customers.has(sealedWith(sealed))) await this.#lookAgain();
      const key = this.#customers.get(sealedWith(sealed));
      if (!key) throw new Error('a customer was sealed with a key that is not kept');
      return unseal(key, sealed);
    },
  };
  readonly #deps: KeptKeysDeps;
  readonly #generation: string;
  readonly #known: ReadonlySet<string>;
  readonly #services = new Map<string, Buffer>();
  /** By the id that stands in what was sealed with them. */
  readonly #customers = new Map<string, Buffer>();
  #customer: Buffer | null = null;
  readonly #stopping = new AbortController();
  #isRead = false;
  #lookedAt_ms = -Infinity;
  #looking: Promise<void> | null = null;

  constructor(deps: KeptKeysDeps) {
    this.#deps = deps;
    this.fingerprint = [...allKeys(deps.secrets.fingerprint)];
    this.#generation = keyIdOf(currentKey(deps.secrets.vault));
    this.#known = new Set(allKeys(deps.secrets.vault).map(keyIdOf));
  }

  /** Whether every key has been read. */
  ready(): boolean {
    return this.#isRead;
  }

  /** Stops trying to read them. */
  close(): void {
    this.#stopping.abort();
  }

  /** Reads the keys once; on failure, retries in parallel with the start. */
  async begin(): Promise<void> {
    await this.#read().catch(() => void this.#readLater());
  }

  async #readLater(): Promise<void> {
    while (!this.#isRead && !this.#stopping.signal.aborted) {
      await delay(retry_ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(
        () => {},
      );
      await this.#read().catch(() => {});
    }
  }

  /** Stores this generation's keys unless they exist, and reads those of all. */
  async #read(): Promise<void> {
    const { database, secrets } = this.#deps;
    const em = database.fork();
    const made = {
      fingerprint: currentKey(secrets.fingerprint),
      service: randomBytes(key_bytes),
      customer: randomBytes(key_bytes),
    };
    for (const purpose of ['fingerprint', 'service', 'customer'] as const) {
      const sealed = seal(secrets.vault, made[purpose].toString('base64'));
      const row = { purpose, generation: this.#generation, sealed };
      await em.createQueryBuilder(KeptKeyEntity).insert(row).onConflict().ignore().execute();
    }
    const orderBy = { purpose: 'asc', generation: 'asc' } as const;
    for (const row of await em.find(KeptKeyEntity, {}, { orderBy })) this.#add(row);
    this.#isRead = true;
  }

  #add({ purpose, generation, sealed }: InferEntity<typeof KeptKeyEntity>): void {
    const { secrets, log } = this.#deps;
    // The service's key of another generation is useless without that generation's secret key.
    if (purpose === 'service' && !this.#known.has(generation)) return;
    const sealer = sealedWith(sealed);
    if (!this.#known.has(sealer)) {
      if (!this.#isRead)
        log.error(
          { purpose, generation, sealer },
          'a stored key is encrypted with a secret key that this process does not have',
        );
      return;
    }
    const key = Buffer.from(unseal(secrets.vault, sealed), 'base64');
    if (purpose === 'service') this.#services.set(generation, key);
    else if (purpose === 'customer') {
      this.#customers.set(keyIdOf(key), key);
      if (generation === this.#generation) this.#customer = key;
    } else if (!this.fingerprint.some((other) => other.equals(key))) this.fingerprint.push(key);
  }

  /** Calls of the same moment share a look. Rejects while the database is away. */
  async #lookAgain(): Promise<void> {
    if (this.#looking) return this.#looking;
    if (this.#isRead && performance.now() - this.#lookedAt_ms < lookAgain_ms) return;
    this.#lookedAt_ms = performance.now();
    this.#looking = outsideOfLane(() => this.#read()).finally(() => (this.#looking = null));
    return this.#looking;
  }
}

/**
 * Opens the kept keys. If the database is not available yet, it retries in parallel with the start;
 * `ready` resolves when the database has answered.
 */
export const openKeptKeys = async (deps: KeptKeysDeps): Promise<KeptKeys> => {
  const keys = new KeptKeys(deps);
  await keys.begin();
  return keys;
};
