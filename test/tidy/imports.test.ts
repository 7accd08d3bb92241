import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import packageJson from '../../package.json' with { type: 'json' };
import { edgesOf, importsOf } from './edges.ts';
import { rooms, violations } from './import-rules.ts';
import { readText, typescriptFiles } from './tree.ts';

const production = new Set(Object.keys(packageJson.dependencies));

const imports = [...importsOf.values()].flat();

/** What the rules say of one file with this text. */
const verdict = (path: string, text: string): readonly string[] =>
  edgesOf(path, text).flatMap((edge) => violations(edge, production));

/** The values that a formatted text exports by name. */
const valuesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:async )?(?:const|class|function\*?) (\w+)/gm)].map(
    ([, name = '']) => name,
  );

describe('imports', () => {
  test('every import in the tree keeps to the table', (t) => {
    t.diagnostic(`${imports.length} imports of ${importsOf.size} files`);
    assert.ok(imports.length > importsOf.size, 'saw fewer imports than files');
    assert.deepEqual(
      imports.flatMap((edge) => violations(edge, production)),
      [],
    );
  });

  test('every value that the service exports is imported', (t) => {
    const taken = new Set(
      imports.flatMap(({ to, names }) =>
        names.length > 0 ? names.map((name) => `${to} ${name}`) : [to],
      ),
    );
    const service = typescriptFiles().filter(
      (path) => !/^test\/|\/(generated|migrations)\//.test(path),
    );
    const exported = service.flatMap((path) =>
      valuesOf(readText(path)).map((name) => ({ path, name })),
    );
    t.diagnostic(`${exported.length} values`);
    assert.ok(exported.length > service.length, `saw only ${exported.length} values`);
    assert.deepEqual(
      exported.filter(({ path, name }) => !taken.has(path) && !taken.has(`${path} ${name}`)),
      [],
    );
  });

  test('the rules are the rows of the table in docs/architecture.md, in its order', () => {
    const [, section] = readText('docs/architecture.md').split('## Who may import whom\n');
    const rows = section?.split('\n## ')[0]?.match(/^\| .+ \|$/gm) ?? [];
    assert.deepEqual(
      rows.slice(1),
      rooms.map(({ row: [room, mayImport] }) => `| ${room} | ${mayImport} |`),
    );
  });
});

test('the import rules catch what breaks them', () => {
  const planted: readonly (readonly [path: string, text: string, rule: RegExp])[] = [
    [
      'schema/wire.ts',
      `import { run } from '../gateway/server.ts';`,
      /`schema\/` may import nothing/,
    ],
    [
      'schema/generated/x.ts',
      `import { a } from '../../subgraphs/platform/graph/subgraph.ts';`,
      /`schema\/` may/,
    ],
    [
      'subgraphs/payments/rules/fee.ts',
      `import { orm } from '../../platform/database/orm.ts';`,
      /any `rules\/`/,
    ],
    ['subgraphs/payments/rules/fee.ts', `import { x } from '../entities.ts';`, /any `rules\/`/],
    [
      'subgraphs/payouts/rules/a.ts',
      `import { x } from '../../payments/rules/fee.ts';`,
      /any `rules\/`/,
    ],
    [
      'subgraphs/rules/money.ts',
      `import { readFileSync } from 'node:fs';`,
      /rules\/ take no package/,
    ],
    [
      'subgraphs/rules/ids.ts',
      `import { createHash, randomUUID } from 'node:crypto';`,
      /rules\/ take no package/,
    ],
    ['subgraphs/rules/ids.ts', `import * as crypto from 'node:crypto';`, /rules\/ take no package/],
    ['subgraphs/payments/refunds/rules.ts', `import { x } from './send-refund.ts';`, /`rules.ts`/],
    [
      'subgraphs/platform/events/relay.ts',
      `import { x } from '../../merchants/entities.ts';`,
      /`platform\/`, `ledger\/`/,
    ],
    [
      'subgraphs/platform/database/orm.ts',
      `import { x } from '../queue/run-job.ts';`,
      /of the shared rooms its own and those before it/,
    ],
    [
      'subgraphs/platform/graph/subgraph.ts',
      `import { x } from '../database/statement.ts';`,
      /of the shared rooms its own and those before it/,
    ],
    [
      'subgraphs/ledger/post.ts',
      `import type { X } from '../acquirers/bank.ts';`,
      /of the shared rooms its own and those before it/,
    ],
    ['subgraphs/platform/extras/a.ts', `import { x } from '../../rules/money.ts';`, /no room/],
    [
      'subgraphs/recurring/follow.ts',
      `import { x } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'subgraphs/recurring/follow.ts',
      `import type { X } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'subgraphs/recurring/follow.ts',
      `export * from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'subgraphs/recurring/follow.ts',
      `export { x } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'subgraphs/recurring/follow.ts',
      `await import('../payments/entities.ts');`,
      /never another subgraph/,
    ],
    [
      'gateway/graphql/server.ts',
      `import { x } from '../../subgraphs/ledger/post.ts';`,
      /`gateway\/` may/,
    ],
    [
      'rest-facade/call.ts',
      `import { x } from '../subgraphs/platform/database/orm.ts';`,
      /`rest-facade\/` may/,
    ],
    ['rest-facade/call.ts', `import pg from 'pg';`, /only under subgraphs/],
    ['gateway/graphql/server.ts', `import { p } from '@mikro-orm/core';`, /only under subgraphs/],
    ['subgraphs/payments/jobs.ts', `import { Queue } from 'bullmq';`, /only in platform\/queue/],
    ['rest-facade/rate-limit.ts', `import { Redis } from 'ioredis';`, /only in platform\/queue/],
    [
      'gateway/callers/buckets-in-redis.ts',
      `import { Queue } from 'bullmq';`,
      /only in platform\/queue/,
    ],
    ['rest-facade/call.ts', `import { x } from '@apollo/gateway';`, /only in gateway/],
    ['gateway/graphql/server.ts', `import fc from 'fast-check';`, /under "dependencies"/],
    [
      'gateway/graphql/server.ts',
      `import { compose } from '../../schema/build.ts';`,
      /development packages/,
    ],
    ['main.ts', `import { x } from './test/support/kit.ts';`, /`main.ts`, `start-roles.ts` may/],
    ['sdk/src/client.ts', `import { a } from '../../schema/wire.ts';`, /`sdk\/` may import itself/],
    ['sdk/src/client.ts', `import { a } from 'undici';`, /sdk\/ takes no package/],
    ['sdk/src/sign.ts', `import { createHmac } from 'node:crypto';`, /sdk\/ takes no package/],
    ['billing/a.ts', `import { x } from '../main.ts';`, /no room/],
  ];
  for (const [path, text, rule] of planted) assert.match(verdict(path, text).join('\n'), rule);
  // A comment, a text and import.meta import nothing.
  assert.deepEqual(
    verdict(
      'subgraphs/recurring/follow.ts',
      `// import '../payments/entities.ts';\nconst a = "import '../payments/entities.ts'";\nexport const b = [a, import.meta.dirname];`,
    ),
    [],
  );
  assert.throws(
    () => verdict('gateway/graphql/server.ts', 'await import(name);'),
    /only known when it runs/,
  );
});
