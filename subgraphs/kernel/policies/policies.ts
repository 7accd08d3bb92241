/**
 * The operator's policies in memory, so that creating a payment asks the database nothing about
 * them. A process reads the lists anew when the bus announces a change; since messages are
 * hints (invariant 1), it also asks for their version when it last did so half a second ago. What
 * is used is never more than a second old.
 */
import { run, type Runner, type Statement } from '../database/statement.ts';
import { blockValue, type BlockKind } from '../rules/block.ts';
import type { Bus } from '../service/bus.ts';
import { allKeys, type Keys } from '../service/access/keys.ts';
import { exchangeRate, usdtOf } from '../rules/exchange.ts';
import { purposeSearch } from '../rules/purpose.ts';

/** The lists at one moment. */
export interface PolicyLists {
  /**
   * Whether a value is blocked for all merchants or for this one. What is no value of its kind is
   * not blocked.
   */
  isBlocked(merchantId: string, kind: BlockKind, text: string): boolean;
  /** The part of a description that is forbidden; null when nothing is. */
  forbiddenIn(description: string): string | null;
  /**
   * What an amount (minor units) is worth in USDT at a moment; null without a rate (decision D-35).
   */
  inUsdt(amount: bigint, currency: string, at: Temporal.Instant): number | null;
}

export interface Policies {
  /** The lists, at most a second old. */
  current(): Promise<PolicyLists>;
  /** Notifies every process that a change was committed. Called after the commit. */
  announce(): Promise<void>;
  /** Ends the subscription to changes. */
  close(): void;
}

/**
 * Behind this age the version is asked for beside the work; behind `stale_max_ms` the work waits
 * for it.
 */
const askAgain_ms = 500;
const stale_max_ms = 1_000;
/** Rates that are kept of a currency: the newest, those that begin later among them. */
const rates_max = 100;

interface Rows {
  readonly blocks: readonly (readonly [
    merchantId: string | null,
    kind: BlockKind,
    value: string,
  ])[];
  readonly words: readonly string[];
  readonly rates: readonly (readonly [currency: string, usdt: string, since_ms: number])[];
}

// One statement sees one state: the lists are those of the version.
const readLists: Statement = {
  name: 'policy.read',
  text: `select version, case when version is distinct from $1::int8 then json_build_object(
      'blocks', (select coalesce(json_agg(json_build_array(merchant_id, kind, value)), '[]') from block_entry),
      'words', (select coalesce(json_agg(word), '[]') from forbidden_word),
      'rates', (select coalesce(json_agg(json_build_array(currency, usdt::text, (extract(epoch from since) * 1000)::int8) order by since desc), '[]')
        from (select *, row_number() over (partition by currency order by since desc) as position from exchange_rate) r where position <= ${rates_max})) end as lists
    from policy_version`,
};

const blockedKey = (merchantId: string | null, kind: BlockKind, value: string): string =>
  `${merchantId ?? '*'}/${kind}/${value}`;

const listsOf = (rows: Rows, fingerprintKeys: Keys): PolicyLists => {
  const blocked = new Set(rows.blocks.map((row) => blockedKey(...row)));
  const kinds = new Set(rows.blocks.map(([, kind]) => kind));
  const rates = Map.groupBy(rows.rates, ([currency]) => currency);
  return {
    isBlocked: (merchantId, kind, text) => {
      // A fingerprint is made only when there is something to compare it with.
      // An entry keeps the fingerprint of the day when it was made.
      const found = kinds.has(kind)
        ? allKeys(fingerprintKeys).map((key) => blockValue(key, kind, text)?.value)
        : [];
      return found.some(
        (value) =>
          value !== undefined &&
          (blocked.has(blockedKey(null, kind, value)) ||
            blocked.has(blockedKey(merchantId, kind, value))),
      );
    },
    forbiddenIn: purposeSearch(rows.words),
    inUsdt: (amount, currency, at) => {
      const [, usdt] =
        rates.get(currency)?.find(([, , since_ms]) => since_ms <= at.epochMilliseconds) ?? [];
      const rate = usdt === undefined ? null : exchangeRate(usdt);
      return rate === null ? null : usdtOf(amount, currency, rate);
    },
  };
};

class KeptPolicies implements Policies {
  readonly #pool: Runner;
  readonly #bus: Bus;
  readonly #fingerprintKey: Keys;
  readonly close: () => void;
  #lists: PolicyLists | null = null;
  #version: bigint | null = null;
  /**
   * When the lists were last known to be true, and when a change was last announced; by
   * performance.now().
   */
  #trueAt_ms = -Infinity;
  #changedAt_ms = -Infinity;
  #reading: { readonly began_ms: number; readonly lists: Promise<PolicyLists> } | null = null;

  constructor({ pool, bus, fingerprintKey }: PoliciesParts) {
    this.#pool = pool;
    this.#bus = bus;
    this.#fingerprintKey = fingerprintKey;
    this.close = bus.subscribe('policies', () => void (this.#changedAt_ms = performance.now()));
  }

  async current(): Promise<PolicyLists> {
    const age_ms =
      this.#trueAt_ms <= this.#changedAt_ms ? Infinity : performance.now() - this.#trueAt_ms;
    if (this.#lists && age_ms < askAgain_ms) return this.#lists;
    const reading = this.#read();
    if (!this.#lists || age_ms >= stale_max_ms) return reading;
    // When this fails, a call that has to wait for it reports it.
    reading.catch(() => {});
    return this.#lists;
  }

  announce(): Promise<void> {
    return this.#bus.publish('policies', null);
  }

  /**
   * Reads the lists, once for all who ask meanwhile; anew when a change was announced since the
   * reading began.
   */
  #read(): Promise<PolicyLists> {
    if (this.#reading && this.#reading.began_ms > this.#changedAt_ms) return this.#reading.lists;
    const began_ms = performance.now();
    const reading = { began_ms, lists: this.#readSince(began_ms) };
    this.#reading = reading;
    const end = (): void => {
      if (this.#reading === reading) this.#reading = null;
    };
    reading.lists.then(end, end);
    return reading.lists;
  }

  async #readSince(began_ms: number): Promise<PolicyLists> {
    const [row] = await run<{ version: bigint; lists: Rows | null }>(this.#pool, readLists, [
      this.#version,
    ]);
    if (!row) throw new Error('the row of policy_version is gone');
    if (began_ms > this.#trueAt_ms) {
      if (row.lists) this.#lists = listsOf(row.lists, this.#fingerprintKey);
      this.#version = row.version;
      this.#trueAt_ms = began_ms;
    }
    if (!this.#lists) throw new Error('the policies have a version but no lists');
    return this.#lists;
  }
}

export interface PoliciesParts {
  readonly pool: Runner;
  readonly bus: Bus;
  /** Makes the fingerprints of blocked cards and accounts. */
  readonly fingerprintKey: Keys;
}

/** The policies of this process. Nothing is read until they are asked for. */
export const openPolicies = (parts: PoliciesParts): Policies => new KeptPolicies(parts);

const take: Statement = {
  name: 'policy.take',
  text: 'update policy_version set version = version + 1',
};

/**
 * Begins a change of the policies in a transaction: others wait until it ends, and every process
 * then reads the lists anew.
 */
export const takePolicies = async (runner: Runner): Promise<void> => {
  await run(runner, take, []);
};
