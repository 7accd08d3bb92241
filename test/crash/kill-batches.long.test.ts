/**
 * The process and the database are killed while several callers' creates, refunds, payouts and
 * token charges share statements. What was answered is there once; what was not is asked again
 * under its Idempotency-Key, and has happened once, too.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import { startEmbeddedPostgres } from '../../subgraphs/platform/database/embedded-postgres.ts';
import { confirmAtBank, pay, payByCard } from '../support/buyer.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { spawnProcess, stopProcess, untilReady, type ServiceProcess } from '../support/service.ts';
import { compareBalances, registryOf, sumOf } from './books.ts';
import { eventually } from '../support/eventually.ts';
import { fastEnvironment, usualTimes } from '../support/fast-time.ts';

const merchants = 2;
/** Callers of one merchant that make the same kind of call. */
const callersOfKind = 6;
/** Payments of one merchant that are refunded in parts. */
const refunded = 8;
const paid = 1_000_000;
const funds = 50_000_000;
/** How long the callers call before each blow. */
const load_ms = [500, 1_200];
/** How many answered calls are made again after a blow. */
const answeredAgain = 40;

const kinds = ['create', 'refund', 'payout', 'charge'] as const;
type Kind = (typeof kinds)[number];

/** A merchant with money, payments that can be refunded and a card that can be charged. */
interface Party {
  readonly merchant: Merchant;
  readonly payments: readonly string[];
  readonly token: string;
}

interface Call {
  readonly party: Party;
  readonly kind: Kind;
  readonly number: number;
  /** What it has made; null while it has no answer. */
  id: string | null;
}

const dataDir = mkdtempSync(join(tmpdir(), 'payments-batches-'));
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let running: ServiceProcess;
let start: () => Promise<void>;

before(async () => {
  postgres = await startEmbeddedPostgres({ dataDir, progress: () => {} });
  const port = await freePort();
  const environment = {
    DATABASE_URL: postgres.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(dataDir, 'service'),
    // What was cut off waits until it counts as lost.
    ...fastEnvironment({ began_ms: Date.now(), times: usualTimes }, 'Temporal'),
  };
  start = async () => {
    running = spawnProcess('all', port, environment);
    await untilReady(running);
  };
  await start();
});

after(async () => {
  await stopProcess(running);
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const readAll = async (sql: string): Promise<any[]> => {
  const client = new pg.Client({ connectionString: postgres.url });
  // A connection that PostgreSQL cuts off says so by this event, beside the query that fails.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

const postmaster = (): number =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

/** Until the service says that it is ready again, after its database was lost. */
const untilWell = (): Promise<unknown> =>
  eventually(async () => {
    const answer = await fetch(`${running.url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    return answer?.ok;
  }, 'the service on its database again');

const blows: Readonly<Record<string, () => Promise<unknown>>> = {
  'kill -9 of the process': async () => {
    await stopProcess(running, 'SIGKILL');
    await start();
  },
  // What `pg_ctl stop -m immediate` sends.
  'an immediate stop of PostgreSQL': async () => {
    const lost = postmaster();
    process.kill(lost, 'SIGQUIT');
    await eventually(() => runsAnew(lost), 'PostgreSQL');
    await untilWell();
  },
  'kill -9 of a backend that works': async () => {
    // One that ends by itself meanwhile is not killed.
    await eventually(async () => {
      const [backend] = await readAll(
        `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
          order by (state = 'active') desc, state_change desc limit 1`,
      );
      return isKilled(backend.pid);
    }, 'a backend to kill');
    await eventually(() => readAll('select 1').catch(() => null), 'PostgreSQL');
    await untilWell();
  },
};

/** Whether another server than this one runs on the directory. */
const runsAnew = (lost: number): boolean => {
  try {
    return postmaster() !== lost;
  } catch {
    return false;
  }
};

const isKilled = (pid: number): boolean => {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
};

const requestOf = ({ kind, number, party }: Call): readonly [path: string, body: object] => {
  switch (kind) {
    case 'create':
      return ['/payments', { amount: 1_000 + number, order_id: `created-${number}` }];
    case 'refund':
      return [`/payments/${party.payments[number % refunded]}/refund`, { amount: 100 }];
    case 'payout':
      return ['/payouts', { amount: 100, phone: '+79161234567', bank_id: '100000000111' }];
    case 'charge':
      return [`/tokens/${party.token}/charge`, { amount: 49_900, order_id: `charged-${number}` }];
  }
};

/**
 * Makes the call under its key; gives the id of what it has made, or null where there is no answer:
 * the connection broke, or the service says that it cannot know.
 */
const attempt = async (call: Call): Promise<string | null> => {
  const [path, body] = requestOf(call);
  const key = { 'idempotency-key': `${call.kind}-${call.number}` };
  const answer = await call.party.merchant.call('POST', path, body, key).catch((error: unknown) => {
    if (error instanceof assert.AssertionError) throw error;
    return null;
  });
  // 409: the first call under this key still holds it.
  if (!answer || answer.status >= 500 || answer.status === 409) return null;
  assert.ok([200, 201].includes(answer.status), `${path}: ${JSON.stringify(answer.body)}`);
  const made = answer.body.payment ?? answer.body.payout ?? answer.body;
  return made.id;
};

let numbers = 0;

/** Callers of every kind, who call until they are stopped. */
const openLoad = (parties: readonly Party[]) => {
  const calls: Call[] = [];
  const stopping = new AbortController();
  let underWay = 0;
  const caller = async (party: Party, kind: Kind): Promise<void> => {
    while (!stopping.signal.aborted) {
      const call: Call = { party, kind, number: (numbers += 1), id: null };
      calls.push(call);
      underWay += 1;
      call.id = await attempt(call);
      underWay -= 1;
    }
  };
  const callers = parties.flatMap((party) =>
    kinds.flatMap((kind) => Array.from({ length: callersOfKind }, () => caller(party, kind))),
  );
  return {
    calls,
    /** Stops new calls, and gives how many are under way now. */
    last: (): number => {
      stopping.abort();
      return underWay;
    },
    ended: () => Promise.all(callers),
  };
};

/** Makes calls again: an answered one gives what it gave, the others what they have made. */
const repeat = async (calls: readonly Call[]): Promise<void> => {
  const rest = calls.values();
  const caller = async (): Promise<void> => {
    for (const call of rest) {
      const again = await eventually(() => attempt(call), `${call.kind}-${call.number}`);
      assert.equal(again, call.id ?? again, `${call.kind}-${call.number} was made once`);
      call.id = again;
    }
  };
  await Promise.all(Array.from({ length: 12 }, caller));
};

const openParty = async (): Promise<Party> => {
  const service = { rest: running.url, graph: running.url };
  const merchant = await makeMerchant(service);
  const { adjustmentRecord } = await askGraph(
    service,
    `mutation ($m: ID!, $s: ID!, $a: SignedMinorUnits!) { adjustmentRecord(merchantId: $m, shopId: $s, mode: test, amount: $a,
      reason: "money for payouts", reference: "fund-1") { ... on Refused { code message } } }`,
    { m: merchant.id, s: merchant.shopId, a: funds },
  );
  assert.equal(adjustmentRecord.code, undefined, JSON.stringify(adjustmentRecord));
  const payments = await Promise.all(
    Array.from({ length: refunded }, async () => {
      const body = { amount: paid, method: 'sbp' };
      const created = (await merchant.call('POST', '/payments', body)).body;
      await pay(created.payment_url);
      return created.payment.id;
    }),
  );
  const bound = (await merchant.call('POST', '/tokens', { customer_ref: 'c' })).body;
  await payByCard(bound.pay_url);
  await confirmAtBank(bound.pay_url);
  await eventually(async () => {
    const { items } = (await merchant.call('GET', '/tokens?customer_ref=c')).body;
    const paying = (await registryOf(merchant, '/payments')).filter(
      ({ status }) => status === 'pending' || status === 'processing',
    );
    return items[0]?.status === 'active' && paying.length === 0;
  }, 'the money and the token');
  return { merchant, payments, token: bound.card.id };
};

const idsOf = (items: readonly { readonly id: string }[]): readonly string[] =>
  items.map(({ id }) => id).toSorted();

/** What a merchant has, against what it was answered; `known` had been made before. */
const compareRegistries = async (
  { merchant }: Party,
  calls: readonly Call[],
  known: readonly string[],
): Promise<void> => {
  const made = (...of: readonly Kind[]): readonly string[] =>
    calls.flatMap(({ kind, id }) => (id !== null && of.includes(kind) ? [id] : []));
  const isDone = (item: any): boolean => item.status !== 'pending' && item.status !== 'processing';
  const settled = async (path: string, of: readonly Kind[]): Promise<any[]> => {
    const wanted = new Set(made(...of));
    const look = async (): Promise<any[] | null> => {
      const items = await registryOf(merchant, path);
      // What was only created waits for its buyer.
      const waits = ({ id, method }: any): boolean => wanted.has(id) && method !== null;
      return items.filter(waits).every(isDone) ? items : null;
    };
    return eventually(look, `the end of all ${path}`);
  };
  const payments = await settled('/payments', ['charge']);
  const refunds = await settled('/refunds', ['refund']);
  const payouts = await settled('/payouts', ['payout']);
  const isNew = ({ id }: any): boolean => !known.includes(id);
  assert.deepEqual(idsOf(payments.filter(isNew)), made('create', 'charge').toSorted());
  assert.deepEqual(idsOf(refunds.filter(isNew)), made('refund').toSorted());
  assert.deepEqual(idsOf(payouts), made('payout').toSorted());

  const ledger = await registryOf(merchant, '/ledger');
  const entries = (type: string): any[] => ledger.filter((entry) => entry.type === type);
  const wellDone = (items: readonly any[]): any[] =>
    items.filter(({ status }) => status === 'succeeded');
  const charged = new Set(made('charge'));
  const [charges, given, sent] = [
    wellDone(payments.filter(({ id }) => charged.has(id))),
    wellDone(refunds.filter(isNew)),
    wellDone(payouts),
  ];
  const ofCharges = entries('payment').flatMap(({ payment_id: id }) =>
    charged.has(id) ? [{ id }] : [],
  );
  assert.deepEqual(idsOf(ofCharges), idsOf(charges), 'each charge is booked once');
  assert.equal(entries('refund').length, given.length, 'each refund is booked once');
  assert.deepEqual(
    idsOf(entries('payout').map(({ payout_id: id }) => ({ id }))),
    idsOf(sent),
    'each payout is booked once',
  );
  const owed = funds + refunded * paid + sumOf(charges) - sumOf(given) - sumOf(sent);
  const { body: balance } = await merchant.call('GET', '/balance');
  assert.deepEqual(
    [sumOf(ledger), balance.balance, balance.available],
    [owed, owed, owed],
    'the money is what the answers say',
  );
};

/** The books as they are kept, and the bank's own record of what it was given. */
const compareRecorded = async (calls: readonly Call[]): Promise<void> => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await compareBalances(client);
    const made = calls.map(({ id }) => id);
    const { rows } = await client.query(
      `with ours as (
        select id, status from payment where method = 'recurrent' union all select id, status from refund union all select id, status from payout)
      select
        (select count(*)::int from simulator_operation
          where operation_id not in (select id from payment union all select id from refund union all select id from payout)) as unknown,
        (select count(*)::int from ours where id = any ($1::uuid[]) and status = 'succeeded' and id not in (select operation_id from simulator_operation)) as without_bank,
        (select coalesce(sum(amount), 0)::text from (select amount from posting union all select -amount from posting) as moved) as sum`,
      [made],
    );
    assert.deepEqual(rows, [{ unknown: 0, without_bank: 0, sum: '0' }]);
  } finally {
    await client.end();
  }
};

test('batches that are cut off by a kill of the process or of PostgreSQL keep every promise, and make nothing twice', async (t) => {
  const parties = await Promise.all(Array.from({ length: merchants }, openParty));
  const known = new Map(
    await Promise.all(
      parties.map(async ({ merchant }) => {
        const made = [
          ...(await registryOf(merchant, '/payments')),
          ...(await registryOf(merchant, '/refunds')),
        ];
        return [merchant.id, made.map(({ id }) => id)] as const;
      }),
    ),
  );
  const all: Call[] = [];
  const struck = load_ms.flatMap((wait_ms) =>
    Object.entries(blows).map(([name, strike]) => ({ name, strike, wait_ms })),
  );
  for (const { name, strike, wait_ms } of struck) {
    const load = openLoad(parties);
    // A busy machine takes its time for the first answers.
    const begun = 2 * merchants * kinds.length * callersOfKind;
    await eventually(() => load.calls.length > begun, 'the first answers');
    await sleep(wait_ms);
    const underWay = load.last();
    await strike();
    await load.ended();
    const unanswered = load.calls.filter(({ id }) => id === null);
    const answered = load.calls.filter(({ id }) => id !== null);
    t.diagnostic(`${name}: ${load.calls.length} calls, ${unanswered.length} without an answer`);
    assert.ok(underWay > callersOfKind, `${name} came when hardly anybody called`);
    // The last ones that were answered were nearest to the blow.
    await repeat([...unanswered, ...answered.slice(-answeredAgain)]);
    all.push(...load.calls);
  }
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length, 'each call made its own');
  for (const party of parties)
    await compareRegistries(
      party,
      all.filter((call) => call.party === party),
      known.get(party.merchant.id) ?? [],
    );
  await stopProcess(running);
  await compareRecorded(all);
});
