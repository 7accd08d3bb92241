/**
 * The operator's policies in memory, so that creating a payment asks the database nothing about
 * them. A process reads what changed when the bus announces a change; since messages are hints
 * (invariant 1), it also asks for their version when it last did so half a second ago. Callers go
 * on with the lists as they were, and wait for a reading only when those are a second old.
 */
import { raw, defineEntity, p, Type, type InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { setTimeout as wait } from 'node:timers/promises';
import { run, type Runner, type Statement, type Row } from '../database/statement.ts';
import { type BlockKind, blockValue } from '../../rules/block.ts';
import { charactersOf, isPlainText } from '../../rules/refusal.ts';
import type { Bus } from '../bus/bus.ts';
import { type Keys, allKeys } from '../access/keys.ts';
import { outsideOfLane } from '../access/lane.ts';
import { exchangeRate, usdtOf, plainRate } from '../../rules/money.ts';
import { instant } from '../database/instant.ts';

// Their tables are small, and every process caches them in memory.

/**
 * One row. It grows with every change of a policy, in the change's own transaction; its lock lets
 * one change through at a time.
 */
const PolicyVersionEntity = defineEntity({
  name: 'PolicyVersion',
  tableName: 'policy_version',
  properties: {
    name: p.text().primary(),
    version: p.bigint(),
  },
});

/** Something that is refused, for all merchants or for one. */
export const BlockEntryEntity = defineEntity({
  name: 'BlockEntry',
  tableName: 'block_entry',
  properties: {
    id: p.uuid().primary(),
    /** Null: all merchants. */
    merchantId: p.uuid().strictNullable(),
    kind: p.text().$type<BlockKind>().groups('audit'),
    /** A keyed fingerprint of a card or an account; the value itself of the others. */
    value: p.text().hidden(),
    /** What people may see of it: the last 4 characters of a card or an account. */
    shown: p.text().groups('audit'),
    reason: p.text().groups('audit'),
    createdAt: instant(),
  },
});
export type BlockEntry = Row<InferEntity<typeof BlockEntryEntity>>;

/** A word that no description may hold. */
export const ForbiddenWordEntity = defineEntity({
  name: 'ForbiddenWord',
  tableName: 'forbidden_word',
  properties: {
    id: p.uuid().primary(),
    /** In lower case; `*` at its end stands for any ending. */
    word: p.text().groups('audit'),
    reason: p.text().groups('audit'),
    createdAt: instant(),
  },
});
export type ForbiddenWord = Row<InferEntity<typeof ForbiddenWordEntity>>;

/** An exact decimal, as text without trailing zeros. */
class RateType extends Type<string, string> {
  override convertToJSValue(value: string): string {
    return plainRate(value);
  }

  override getColumnType(): string {
    return 'numeric(21,12)';
  }
}

/** What one unit of a currency is worth in USDT from a moment on. */
export const ExchangeRateEntity = defineEntity({
  name: 'ExchangeRate',
  tableName: 'exchange_rate',
  properties: {
    id: p.uuid().primary(),
    /** ISO 4217. */
    currency: p.text(),
    usdt: p.type(RateType).$type<string>().groups('audit'),
    since: instant(),
  },
});
export type ExchangeRate = Row<InferEntity<typeof ExchangeRateEntity>>;

export const policiesEntities = [
  PolicyVersionEntity,
  BlockEntryEntity,
  ForbiddenWordEntity,
  ExchangeRateEntity,
];

/*
 * The block lists in memory, each merchant's apart: a change of one is read and built anew by
 * itself, whatever others have on theirs.
 */

/** Whose list it is: a merchant's id, or this for all merchants. */
const everybody = '*';

/** What is read: whose lists there are, and the entries of those that have changed. */
interface BlockRows {
  /** By owner, a checksum of the list's entries. */
  readonly checksums: Readonly<Record<string, string>>;
  readonly blocks: readonly (readonly [owner: string, kind: BlockKind, value: string])[];
}

interface OwnedList {
  readonly checksum: string;
  readonly values: ReadonlyMap<BlockKind, ReadonlySet<string>>;
}

/** The lists at one moment. */
class BlockLists {
  readonly #keys: Keys;
  readonly #lists: ReadonlyMap<string, OwnedList>;
  readonly known: string;

  constructor(keys: Keys, lists: ReadonlyMap<string, OwnedList> = new Map()) {
    this.#keys = keys;
    this.#lists = lists;
    const checksums = Array.from(lists, ([owner, { checksum }]) => [owner, checksum]);
    this.known = JSON.stringify(Object.fromEntries(checksums));
  }

  /** The lists after what was read against `known`. */
  changedBy({ checksums, blocks }: BlockRows): BlockLists {
    const read = Map.groupBy(blocks, ([owner]) => owner);
    const lists = Object.entries(checksums).map(([owner, checksum]) => {
      const before = this.#lists.get(owner);
      if (before?.checksum === checksum) return [owner, before] as const;
      const byKind = Map.groupBy(read.get(owner) ?? [], ([, kind]) => kind);
      const values = new Map(
        Array.from(byKind, ([kind, rows]) => [kind, new Set(rows.map(([, , value]) => value))]),
      );
      return [owner, { checksum, values }] as const;
    });
    return new BlockLists(this.#keys, new Map(lists));
  }

  /**
   * Whether a value is blocked for all merchants or for this one. What is no value of its kind is
   * not blocked.
   */
  isBlocked(merchantId: string, kind: BlockKind, text: string): boolean {
    const sets = [everybody, merchantId].flatMap((owner) => {
      const values = this.#lists.get(owner)?.values.get(kind);
      return values ? [values] : [];
    });
    // A fingerprint is made only when there is something to compare it with. An entry keeps the
    // fingerprint of the day when it was made.
    if (sets.length === 0) return false;
    const values = allKeys(this.#keys).flatMap((key) => blockValue(key, kind, text)?.value ?? []);
    return values.some((value) => sets.some((set) => set.has(value)));
  }
}

export interface PolicyLists extends Pick<BlockLists, 'isBlocked'> {
  /** The part of a description that is forbidden; null when nothing is. */
  forbiddenIn(description: string): string | null;
  /** What an amount (minor units) is worth in USDT at a moment; null without a rate. */
  inUsdt(amount: bigint, currency: string, at: Temporal.Instant): number | null;
}

/**
 * Beyond this age the version is read in the background; beyond `stale_max_ms` the work waits for
 * it.
 */
const askAgain_ms = 500;
const stale_max_ms = 1_000;
/** From one reading to the next, however many changes there are. */
const readingsApart_ms = 100;
/** Rates that are kept of a currency: the newest, those that begin later among them. */
const rates_max = 100;

interface Rows extends BlockRows {
  readonly words: readonly string[];
  readonly rates: readonly (readonly [currency: string, usdt: string, since_ms: number])[];
}

// One statement sees one state: the lists are those of the version. Entries are added and removed,
// never changed: their ids say whether a merchant's list is another.
const readLists: Statement = {
  name: 'policy.read',
  text: `with owner as (select coalesce(merchant_id::text, '*') as name, count(*) || ' ' || sum(hashtextextended(id::text, 0)) as checksum
      from block_entry group by coalesce(merchant_id::text, '*'))
    select version, case when version is distinct from $1::int8 then json_build_object(
      'checksums', (select coalesce(json_object_agg(name, checksum), '{}') from owner),
      'blocks', (select coalesce(json_agg(json_build_array(coalesce(merchant_id::text, '*'), kind, value)), '[]') from block_entry
        where coalesce(merchant_id::text, '*') in (select name from owner where checksum is distinct from $2::json ->> name)),
      'words', (select coalesce(json_agg(word), '[]') from forbidden_word),
      'rates', (select coalesce(json_agg(json_build_array(currency, usdt::text, (extract(epoch from since) * 1000)::int8) order by since desc), '[]')
        from (select *, row_number() over (partition by currency order by since desc) as position from exchange_rate) r where position <= ${rates_max})) end as lists
    from policy_version`,
};

// Forbidden purposes. Words that a `description` may not hold. A word is found as a whole word,
// whatever its case, in any script; a `*` at its end stands for any ending, since Russian words
// change theirs.

/**
 * Both sides of a comparison in one spelling: compatible forms of a letter are one, ё is е, as most
 * people write it, and invisible characters do not part a word.
 */
const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/\s+/g, ' ');

/** A word as the list keeps it; null without a letter or digit, or with a `*` before its end. */
export const forbiddenWord = (text: string): string | null => {
  const word = folded(text).trim();
  return isPlainText(word) && charactersOf(word) <= 200 && /^[^*]*[\p{L}\p{N}][^*]*\*?$/u.test(word)
    ? word
    : null;
};

const pattern = (word: string): string =>
  word.endsWith('*') ? `${RegExp.escape(word.slice(0, -1))}[\\p{L}\\p{N}]*` : RegExp.escape(word);

/**
 * Makes the search for any of the words: it gives the part of a text that is forbidden, or null.
 */
export const purposeSearch = (words: readonly string[]): ((text: string) => string | null) => {
  if (words.length === 0) return () => null;
  const any = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${words.map(pattern).join('|')})(?![\\p{L}\\p{N}])`,
    'u',
  );
  return (text) => any.exec(folded(text))?.[0] ?? null;
};

const listsOf = ({ words, rates: rows }: Rows, blocks: BlockLists): PolicyLists => {
  const rates = Map.groupBy(rows, ([currency]) => currency);
  return {
    isBlocked: (merchantId, kind, text) => blocks.isBlocked(merchantId, kind, text),
    forbiddenIn: purposeSearch(words),
    inUsdt: (amount, currency, at) => {
      const [, usdt] =
        rates.get(currency)?.find(([, , since_ms]) => since_ms <= at.epochMilliseconds) ?? [];
      const rate = usdt === undefined ? null : exchangeRate(usdt);
      return rate === null ? null : usdtOf(amount, currency, rate);
    },
  };
};

/** A reading that waits for its turn begins later than any change that was announced. */
interface Reading {
  began_ms: number;
  readonly lists: Promise<PolicyLists>;
}

/** The policies of this process. Nothing is read until they are asked for. */
export class Policies {
  readonly #pool: Runner;
  readonly #bus: Bus;
  readonly close: () => void;
  #lists: PolicyLists | null = null;
  #blocks: BlockLists;
  /** When the last reading began. */
  #beganAt_ms = -Infinity;
  #version: bigint | null = null;
  /**
   * When the lists were last known to be true, and when a change was last announced; by
   * performance.now().
   */
  #trueAt_ms = -Infinity;
  #changedAt_ms = -Infinity;
  #reading: Reading | null = null;

  constructor({ pool, bus, fingerprintKey }: PoliciesDeps) {
    this.#pool = pool;
    this.#bus = bus;
    this.#blocks = new BlockLists(fingerprintKey);
    this.close = bus.subscribe('policies', () => {
      this.#changedAt_ms = performance.now();
      // Read at once, so that hardly a caller meets lists that are too old. When this fails, a call
      // that has to wait for it reports it.
      if (this.#lists) this.#read().catch(() => {});
    });
  }

  /** The lists, at most a second old. */
  async current(): Promise<PolicyLists> {
    const age_ms = performance.now() - this.#trueAt_ms;
    const hasChanged = this.#trueAt_ms <= this.#changedAt_ms;
    if (this.#lists && !hasChanged && age_ms < askAgain_ms) return this.#lists;
    const reading = this.#read();
    if (!this.#lists || age_ms >= stale_max_ms) return reading;
    reading.catch(() => {});
    return this.#lists;
  }

  /**
   * Notifies every process that a change was committed, and gives back when this one obeys it.
   * Called after the commit.
   */
  async announce(): Promise<void> {
    this.#changedAt_ms = performance.now();
    await this.#bus.publish('policies', null);
    // The change is made, whether or not it can be read now.
    await this.#read().catch(() => {});
  }

  /**
   * Reads the lists, once for all concurrent callers; again when a change was announced since the
   * reading began. There is a minimum interval between readings.
   */
  #read(): Promise<PolicyLists> {
    if (this.#reading && this.#reading.began_ms > this.#changedAt_ms) return this.#reading.lists;
    const turn = { began_ms: Infinity };
    const lists = outsideOfLane(() => this.#readInTurn(turn));
    const reading = Object.assign(turn, { lists });
    this.#reading = reading;
    const end = (): void => {
      if (this.#reading === reading) this.#reading = null;
    };
    reading.lists.then(end, end);
    return reading.lists;
  }

  async #readInTurn(reading: Pick<Reading, 'began_ms'>): Promise<PolicyLists> {
    const rest_ms = this.#beganAt_ms + readingsApart_ms - performance.now();
    if (rest_ms > 0) await wait(rest_ms);
    const began_ms = performance.now();
    this.#beganAt_ms = began_ms;
    reading.began_ms = began_ms;
    // What is read is what differs from these, although another reading may end before.
    const blocks = this.#blocks;
    const values = [this.#version, blocks.known];
    const [row] = await run<{ version: bigint; lists: Rows | null }>(this.#pool, readLists, values);
    if (!row) throw new Error('the row of policy_version is gone');
    if (began_ms > this.#trueAt_ms) {
      if (row.lists) {
        this.#blocks = blocks.changedBy(row.lists);
        this.#lists = listsOf(row.lists, this.#blocks);
      }
      this.#version = row.version;
      this.#trueAt_ms = began_ms;
    }
    if (!this.#lists) throw new Error('the policies have a version but no lists');
    return this.#lists;
  }
}

interface PoliciesDeps {
  readonly pool: Runner;
  readonly bus: Bus;
  /** Makes the fingerprints of blocked cards and accounts. */
  readonly fingerprintKey: Keys;
}

/**
 * Begins a change of the policies in a transaction: others wait until it ends, and every process
 * then reads the lists anew.
 */
export const takePolicies = async (em: EntityManager): Promise<void> => {
  await em.nativeUpdate(PolicyVersionEntity, {}, { version: raw<bigint>('version + 1') });
};
