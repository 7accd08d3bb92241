/**
 * Re-encrypts sealed texts after a change of the secret key, and counts texts by key. A row changes
 * only while it still holds the text that was read, so a concurrent rotation wins. After an
 * interruption the next run continues.
 */
import { Gauge } from 'prom-client';
import { run, type Runner, type Statement } from '../platform/database/statement.ts';
import { periodic, type Job } from '../platform/queue/run-job.ts';
import { allKeys, currentKey, type Keys, keyIdOf, seal, unseal } from '../platform/access/keys.ts';
import { metrics, type Logger } from '../platform/tracing/telemetry.ts';

/** Every column that holds sealed texts. A test compares the list with the schema. */
export const sealedColumns = [
  ['shop', 'webhook_secret_sealed'],
  ['shop', 'previous_webhook_secret_sealed'],
  ['shop', 'signing_secret_sealed'],
  ['webhook_endpoint', 'secret_sealed'],
  ['webhook_endpoint', 'previous_secret_sealed'],
  ['bank_account', 'secret_sealed'],
  ['kept_key', 'sealed'],
] as const;

const batch_max_rows = 500;
const every_ms = 15_000;

const sealedSecrets = new Gauge({
  name: 'sealed_secrets',
  help: 'Secrets at rest by encryption key: current, other (an older key that this worker has), or unknown.',
  labelNames: ['key'],
  registers: [metrics],
});

/**
 * Finds texts sealed with other keys, and replaces those of one merchant or of the platform. A
 * sealed text is `v1.<key id>.<...>` and unique, so it identifies its row.
 */
const statements = sealedColumns.map(([table, column]) => {
  const isOfMerchants = table !== 'kept_key';
  const [owner, owned] = isOfMerchants
    ? ['merchant_id', 't.merchant_id = $3 and ']
    : ['null::uuid', '$3::uuid is null and '];
  return {
    find: {
      name: `reseal.find_${table}_${column}`,
      text: `select ${owner} as "merchantId", ${column} as sealed from ${table} where split_part(${column}, '.', 2) = any ($1::text[]) and ${column} > $2 order by ${column} limit $3`,
    },
    change: {
      name: `reseal.change_${table}_${column}`,
      text: `update ${table} t set ${column} = r.fresh from unnest($1::text[], $2::text[]) as r(old, fresh) where ${owned}t.${column} = r.old`,
    },
  };
});

const count: Statement = {
  name: 'reseal.count',
  text: `select key, count(*)::int as count from (${sealedColumns
    .map(
      ([table, column]) =>
        `select split_part(${column}, '.', 2) as key from ${table} where ${column} is not null`,
    )
    .join(' union all ')}) s group by key`,
};

interface ResealDeps {
  readonly pool: Runner;
  readonly vaultKey: Keys;
  /** The ids of the keys whose texts are re-encrypted: the previous secret key. */
  readonly formerIds: readonly string[];
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

/** The re-encrypted text; null for a damaged one, which must not block the others. */
const resealed = (vaultKey: Keys, sealed: string): string | null => {
  try {
    return seal(vaultKey, unseal(vaultKey, sealed));
  } catch {
    return null;
  }
};

interface SealedRow {
  /** Null: the platform's own. */
  readonly merchantId: string | null;
  readonly sealed: string;
}

/**
 * Re-encrypts everything sealed with a former key. Returns how many texts there were, and how many
 * cannot be read.
 */
const resealSecrets = async ({ pool, vaultKey, formerIds, stopping }: Omit<ResealDeps, 'log'>) => {
  const sum = { changed: 0, damaged: 0 };
  for (const { find, change } of statements) {
    let after: string | undefined = '';
    while (after !== undefined && !stopping.aborted) {
      const values: readonly unknown[] = [formerIds, after, batch_max_rows];
      const rows: readonly SealedRow[] = await run<SealedRow>(pool, find, values);
      const pairs = rows.map((row) => ({ ...row, fresh: resealed(vaultKey, row.sealed) }));
      const whole = pairs.filter(({ fresh }) => fresh !== null);
      for (const [merchantId, own] of Map.groupBy(whole, (row) => row.merchantId))
        await run(pool, change, [
          own.map(({ sealed }) => sealed),
          own.map(({ fresh }) => fresh),
          merchantId,
        ]);
      sum.changed += whole.length;
      sum.damaged += pairs.length - whole.length;
      after = rows.length === batch_max_rows ? rows.at(-1)?.sealed : undefined;
    }
  }
  return sum;
};

/** How many texts are sealed with the current key, another known key, and an unknown key. */
const countSealed = async (
  pool: Runner,
  vaultKey: Keys,
): Promise<Readonly<Record<'current' | 'other' | 'unknown', number>>> => {
  const current = keyIdOf(currentKey(vaultKey));
  const known = allKeys(vaultKey).map(keyIdOf);
  const counts = { current: 0, other: 0, unknown: 0 };
  for (const row of await run<{ key: string; count: number }>(pool, count, [])) {
    counts[row.key === current ? 'current' : known.includes(row.key) ? 'other' : 'unknown'] +=
      row.count;
  }
  return counts;
};

/** The worker's re-encryption job. It logs its progress; the counts are in `sealed_secrets`. */
export const resealJobs = (deps: ResealDeps): readonly Job[] => [
  periodic('reseal-secrets', every_ms, async () => {
    const { changed, damaged } =
      deps.formerIds.length > 0 ? await resealSecrets(deps) : { changed: 0, damaged: 0 };
    const counts = await countSealed(deps.pool, deps.vaultKey);
    for (const [key, number] of Object.entries(counts)) sealedSecrets.set({ key }, number);
    if (changed > 0)
      deps.log.info({ changed, ...counts }, 're-encrypted secrets with the current secret key');
    if (damaged > 0) deps.log.error({ damaged }, 'could not re-encrypt damaged secrets');
  }),
];
