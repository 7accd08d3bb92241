/** Where secrets come from, and how credentials are compared. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ConfigError } from '../../subgraphs/platform/config/config.ts';
import { readConfig } from '../../subgraphs/read-config.ts';
import { readText, root, typescriptFiles } from '../tidy/tree.ts';

describe('a secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-secrets-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const key = Buffer.alloc(32, 7).toString('base64');
  const given: Readonly<Record<string, string>> = {
    SECRET_KEY: key,
    OPERATOR_TOKEN: 'an-operator-token',
    DATABASE_URL: 'postgresql://service:hunter2@db/payments',
    REDIS_URL: 'redis://:hunter2@redis:6379',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
    YOOKASSA_SECRET_KEY: 'live_key',
    DATABASE_PASSWORD: 'hunter3',
    REDIS_PASSWORD: 'hunter3',
    SECRET_KEY_NEXT: Buffer.alloc(32, 8).toString('base64'),
    SECRET_KEY_PREVIOUS: Buffer.alloc(32, 6).toString('base64'),
  };
  const beside = { YOOKASSA_SHOP_ID: '1', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const inFiles = Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const path = join(folder, name);
      writeFileSync(path, `${value}\n`);
      return [`${name}_FILE`, path];
    }),
  );

  test('comes from the environment or from a file that it names, with the same result', () => {
    const direct = readConfig({ ...given, ...beside });
    const fromFiles = readConfig({ ...inFiles, ...beside });
    // Acquirers hold their secrets in functions: that there is one shows that it was read.
    const valuesOf = (config: object): unknown => JSON.parse(JSON.stringify(config));
    assert.deepEqual(valuesOf(fromFiles), valuesOf(direct));
    assert.equal(direct.connectors.length, 1);
    assert.deepEqual(
      [direct.operatorToken, direct.tracing?.headers],
      ['an-operator-token', { authorization: 'Bearer collector' }],
    );
  });

  test('that is a password goes into the addresses that have none, whatever characters it has', () => {
    const { databaseUrl, databaseDirectUrl, redisUrl } = readConfig({
      SECRET_KEY: key,
      DATABASE_URL: 'postgresql://service@pooler/payments',
      DATABASE_DIRECT_URL: 'postgresql://service:own@db/payments',
      DATABASE_PASSWORD: 'p@ss/w:rd#?%',
      REDIS_URL: 'redis://one:6379,redis://two:6379',
      REDIS_PASSWORD: 'p@ss',
    });
    assert.equal(decodeURIComponent(new URL(databaseUrl ?? '').password), 'p@ss/w:rd#?%');
    assert.equal(databaseDirectUrl, 'postgresql://service:own@db/payments');
    assert.equal(redisUrl, 'redis://:p%40ss@one:6379,redis://:p%40ss@two:6379');
  });

  test('whose file is empty is none', () => {
    const path = join(folder, 'empty');
    writeFileSync(path, '\n');
    const config = readConfig({
      SECRET_KEY_FILE: path,
      SECRET_KEY_NEXT_FILE: path,
      YOOKASSA_SECRET_KEY_FILE: path,
      REDIS_PASSWORD_FILE: path,
    });
    assert.deepEqual([config.secretKey, config.secretKeyNext, config.redisUrl], [null, null, null]);
  });

  test('that is given twice, or whose file cannot be read, is a mistake that does not repeat it', () => {
    for (const environment of [
      { ...inFiles, ...given, ...beside },
      { SECRET_KEY_FILE: join(folder, 'none') },
      { DATABASE_URL: 'mysql://service:hunter2@db' },
    ])
      assert.throws(
        () => readConfig(environment),
        (error) =>
          error instanceof ConfigError && !/hunter2|an-operator-token|live_key/.test(error.message),
      );
  });

  test('is no argument: the command line takes names of roles alone', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['main.ts', 'gateway', `--operator-token=${given['OPERATOR_TOKEN']}`],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 2);
    assert.match(stderr, /no such role/);
  });
});

/**
 * Comparisons of what is no secret: digests of what a caller asked for, which only distinguish
 * two requests.
 */
const open = [
  'subgraphs/platform/database/keyset.ts',
  'subgraphs/merchants/reconciliation/upload-report.ts',
];
const compared =
  /\b(?:\w*(?:signature|digest|hmac|mac|bearer|token|secret|password)) [!=]== (?!null|undefined|''|'|typeof|\d)/i;

test('credentials are compared in constant time, never by ===', () => {
  const sources = typescriptFiles().filter(
    (path) => /^(?:subgraphs|gateway|rest-facade)\//.test(path) && !open.includes(path),
  );
  const lines = sources.flatMap((path) =>
    readText(path)
      .split('\n')
      .map((line, index) => ({ at: `${path}:${index + 1}`, line })),
  );
  assert.ok(lines.length > 10_000, `saw only ${lines.length} lines`);
  assert.deepEqual(
    lines.filter(({ line }) => compared.test(line)).map(({ at }) => at),
    [],
  );
  assert.match('if (signature === expected) return true;', compared, 'the check sees');
  const constant = sources.filter((path) => readText(path).includes('timingSafeEqual('));
  for (const path of [
    'gateway/callers/authenticate.ts',
    'gateway/callers/caller.ts',
    'subgraphs/platform/access/keys.ts',
  ])
    assert.ok(constant.includes(path), path);
});
