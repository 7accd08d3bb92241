/**
 * Payouts on a migrated database, without a service around them: a merchant with money, the parts
 * that create and send, and what the books say.
 */
import type { IdempotencyArgument } from '../../subgraphs/platform/database/idempotency.ts';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import type { PolicyLists } from '../../subgraphs/platform/policies/policies.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { createPayout, type CreatingDeps } from '../../subgraphs/payouts/create-payout.ts';
import type { Payout } from '../../subgraphs/payouts/entities.ts';
import { loadPayouts } from '../../subgraphs/payouts/find-payouts.ts';
import type { PayoutInput } from '../../subgraphs/payouts/rules/create.ts';
import { sendDuePayouts } from '../../subgraphs/payouts/send-payouts.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

export const start = Temporal.Instant.from('2026-11-21T10:00:00.123Z');
export const at = (seconds: number): Temporal.Instant =>
  start.add({ milliseconds: seconds * 1_000 });

/**
 * A card that passes Luhn; written in parts, so that a search for the number finds only what
 * leaked.
 */
export const cardNumber = ['2200', '0000', '0000', '0004'].join('');
export const sbp = { phone: '+79161234567', bankId: '100000000111' } as const;
export const card = { method: 'payouts_card', cardPan: cardNumber } as const;
export const account = {
  method: 'payouts_account',
  accountNumber: '40702810900000000001',
  bik: '044525225',
} as const;

/**
 * The merchant's money: what may be paid out, what is set aside, what went out, what was earned,
 * and how many postings there are.
 */
export interface Books {
  readonly available: bigint;
  readonly reserved: bigint;
  readonly paid: bigint;
  readonly fees: bigint;
}

export class Harness {
  readonly migrated: MigratedDatabase;
  readonly parts: CreatingDeps;

  constructor(migrated: MigratedDatabase, deps: CreatingDeps) {
    this.migrated = migrated;
    this.parts = deps;
  }

  get pool(): MigratedDatabase['database']['pool'] {
    return this.migrated.database.pool;
  }

  /** The same parts with the simulator answering otherwise, where `changed` says so. */
  withBank(changed: Partial<Bank>): CreatingDeps {
    const simulator = openSimulator(this.migrated.database);
    return { ...this.parts, banks: openBanks({ ...simulator, ...changed }, this.pool) };
  }

  /** Parts with the simulator as a connector for live mode, which pays in these ways. */
  liveParts(payoutWays: Bank['payoutWays'] = ['sbp', 'card', 'account']): CreatingDeps {
    const simulator = openSimulator(this.migrated.database);
    return {
      ...this.parts,
      banks: openBanks(simulator, this.pool, [{ ...simulator, payoutWays }]),
    };
  }

  /** A merchant that has so much to pay out. */
  async funded(amount: bigint): Promise<KeyPrincipal> {
    const key = await this.migrated.merchant();
    await this.credit(key, amount);
    return key;
  }

  /** Money that arrived, as the statement of a payment would add it. */
  async credit({ merchantId, shopId, mode }: KeyPrincipal, amount: bigint): Promise<void> {
    await this.pool.query(
      `insert into balance_delta (merchant_id, id, shop_id, mode, currency, account, amount, hour, moved) values ($1, gen_random_uuid(), $2, $3, 'RUB', 'merchant', $4, date_trunc('hour', now()), '{}')`,
      [merchantId, shopId, mode, amount.toString()],
    );
  }

  async create(
    key: KeyPrincipal,
    input: PayoutInput,
    idempotency: IdempotencyArgument = null,
    {
      parts = this.parts,
      policies = noPolicies,
      now = start,
    }: { parts?: CreatingDeps; policies?: PolicyLists; now?: Temporal.Instant } = {},
  ): Promise<{ payout: Payout; replayed: boolean } | Refusal> {
    const creating = { key, policies, now: () => now };
    const created = await createPayout(parts, creating, input, idempotency);
    if (isRefusal(created)) return created;
    return { payout: created.made, replayed: created.replayed };
  }

  async made(key: KeyPrincipal, input: PayoutInput): Promise<Payout> {
    return granted(await this.create(key, input)).payout;
  }

  /** Lets a worker send everything that is due at a moment. */
  async send(now: Temporal.Instant, banks: Banks = this.parts.banks): Promise<number> {
    let sent = 0;
    for (let page = -1; page !== 0; sent += page)
      page = await sendDuePayouts({ ...this.parts, banks }, () => now);
    return sent;
  }

  async find({ merchantId, id }: Pick<Payout, 'merchantId' | 'id'>): Promise<Payout> {
    const [payout] = await loadPayouts(this.pool, [{ merchantId, id }]);
    if (!payout) throw new Error(`there is no payout ${id}`);
    return payout;
  }

  async books({ merchantId }: Pick<KeyPrincipal, 'merchantId'>): Promise<Books> {
    const { rows } = await this.pool.query<Record<keyof Books, string>>(
      `select (select coalesce(sum(amount), 0) from (select * from balance_delta_and_balance) b where account = 'merchant') as available,
        (select coalesce(sum(amount), 0) from (select * from balance_delta_and_balance) b where account = 'merchant_reserved') as reserved,
        (select coalesce(sum(amount), 0) from posting where merchant_id = $1 and type = 'payout') as paid,
        (select coalesce(sum(amount), 0) from posting where merchant_id = $1 and type = 'payout_fee') as fees`.replaceAll(
        'balance_delta_and_balance',
        `(select account, amount from balance where merchant_id = $1 union all select account, amount from balance_delta where merchant_id = $1) u`,
      ),
      [merchantId],
    );
    const [row] = rows;
    if (!row) throw new Error('no books');
    return {
      available: BigInt(row.available),
      reserved: BigInt(row.reserved),
      paid: BigInt(row.paid),
      fees: BigInt(row.fees),
    };
  }
}

export const openHarness = async (): Promise<Harness> => {
  const migrated = await startMigratedDatabase();
  const { database } = migrated;
  const banks = openBanks(openSimulator(database), database.pool);
  return new Harness(migrated, {
    database,
    banks,
    log: pino({ level: 'silent' }),
    fingerprintKey: randomBytes(32),
  });
};
