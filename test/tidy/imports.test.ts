import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import packageJson from '../../package.json' with { type: 'json' };
import { circlesIn } from './circles.ts';
import { edgesOf } from './edges.ts';
import { rooms, violations } from './import-rules.ts';
import { readText, typescriptFiles } from './tree.ts';

const production = new Set(Object.keys(packageJson.dependencies));

/** What each file imports: the compiler takes a second or more to read them all. */
const importsOf = typescriptFiles().map((path) => ({ path, edges: edgesOf(path, readText(path)) }));
const imports = importsOf.flatMap(({ edges }) => edges);

/** What the rules say of one file with this text. */
const verdict = (path: string, text: string): readonly string[] =>
  edgesOf(path, text).flatMap((edge) => violations(edge, production));

/** The values that a formatted text exports by name. */
const valuesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:async )?(?:const|class|function\*?) (\w+)/gm)].map(
    ([, name = '']) => name,
  );

describe('imports', () => {
  test('every import in the tree keeps to the table, and no file was overlooked', (t) => {
    const overlooked = importsOf.filter(
      ({ path, edges }) => edges.length === 0 && /^import /m.test(readText(path)),
    );
    assert.deepEqual(overlooked, []);
    t.diagnostic(`${imports.length} imports of ${importsOf.length} files`);
    assert.ok(imports.length > importsOf.length, 'saw fewer imports than files');
    assert.deepEqual(
      imports.flatMap((edge) => violations(edge, production)),
      [],
    );
  });

  test('no files import each other in a circle, not even their types', () => {
    assert.deepEqual(
      circlesIn(imports).map((files) => files.join(' ')),
      [],
    );
  });

  test('every value that the service exports is imported by somebody', (t) => {
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

  test('the rules are the rows of the table in ARCHITECTURE.md, in its order', () => {
    const [, section] = readText('ARCHITECTURE.md').split('## Who may import whom\n');
    const rows = section?.split('\n## ')[0]?.match(/^\| .+ \|$/gm) ?? [];
    assert.deepEqual(
      rows.slice(1),
      rooms.map(({ row: [room, mayImport] }) => `| ${room} | ${mayImport} |`),
    );
  });
});

describe('the import rules catch', () => {
  const planted: readonly (readonly [what: string, path: string, text: string, rule: RegExp])[] = [
    [
      'a schema that knows the service',
      'schema/wire.ts',
      `import { run } from '../gateway/server.ts';`,
      /`schema\/` may import nothing/,
    ],
    [
      'a generated file that runs code',
      'schema/generated/x.ts',
      `import { a } from '../../subgraphs/kernel/service/graph/subgraph.ts';`,
      /`schema\/` may/,
    ],
    [
      'a rule that reaches the database',
      'subgraphs/payments/rules/fee.ts',
      `import { orm } from '../../kernel/database/orm.ts';`,
      /any `rules\/`/,
    ],
    [
      'a rule that reads its subgraph',
      'subgraphs/payments/rules/fee.ts',
      `import { x } from '../entities.ts';`,
      /any `rules\/`/,
    ],
    [
      'a rule of one subgraph in another',
      'subgraphs/payouts/rules/a.ts',
      `import { x } from '../../payments/rules/fee.ts';`,
      /any `rules\/`/,
    ],
    [
      'a rule that reads files',
      'subgraphs/kernel/rules/money.ts',
      `import { readFileSync } from 'node:fs';`,
      /rules\/ take no package/,
    ],
    [
      'a rule that rolls dice',
      'subgraphs/kernel/rules/ids.ts',
      `import { createHash, randomUUID } from 'node:crypto';`,
      /rules\/ take no package/,
    ],
    [
      'a rule that takes all of crypto',
      'subgraphs/kernel/rules/ids.ts',
      `import * as crypto from 'node:crypto';`,
      /rules\/ take no package/,
    ],
    [
      'a rule of a feature that knows a verb',
      'subgraphs/payments/refunds/rules.ts',
      `import { x } from './send-refund.ts';`,
      /`rules.ts`/,
    ],
    [
      'a kernel that knows a subgraph',
      'subgraphs/kernel/events/relay.ts',
      `import { x } from '../../merchants/entities.ts';`,
      /`subgraphs\/kernel\/`/,
    ],
    [
      'a database that knows the queue',
      'subgraphs/kernel/database/orm.ts',
      `import { x } from '../queue/run-job.ts';`,
      /of the kernel's rooms its own and those before it/,
    ],
    [
      'a service that knows the database',
      'subgraphs/kernel/service/graph/subgraph.ts',
      `import { x } from '../../database/statement.ts';`,
      /of the kernel's rooms its own and those before it/,
    ],
    [
      'a ledger that takes a type of the banks',
      'subgraphs/kernel/ledger/post.ts',
      `import type { X } from '../banks/bank.ts';`,
      /of the kernel's rooms its own and those before it/,
    ],
    [
      'a room of the kernel without a place in the order',
      'subgraphs/kernel/extras/a.ts',
      `import { x } from '../rules/money.ts';`,
      /no room/,
    ],
    [
      'a subgraph that imports another',
      'subgraphs/recurring/follow.ts',
      `import { x } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'the same as a type',
      'subgraphs/recurring/follow.ts',
      `import type { X } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'the same as a re-export',
      'subgraphs/recurring/follow.ts',
      `export * from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'the same as a named re-export',
      'subgraphs/recurring/follow.ts',
      `export { x } from '../payments/entities.ts';`,
      /never another subgraph/,
    ],
    [
      'the same while it runs',
      'subgraphs/recurring/follow.ts',
      `await import('../payments/entities.ts');`,
      /never another subgraph/,
    ],
    [
      'the same inside a type',
      'subgraphs/recurring/follow.ts',
      `type X = import('../payments/entities.ts').X;`,
      /never another subgraph/,
    ],
    [
      'a gateway that knows the ledger',
      'gateway/graphql/server.ts',
      `import { x } from '../../subgraphs/kernel/ledger/post.ts';`,
      /`gateway\/` may/,
    ],
    [
      'a facade with a database',
      'rest-facade/call.ts',
      `import { x } from '../subgraphs/kernel/database/orm.ts';`,
      /`rest-facade\/` may/,
    ],
    [
      'a driver outside the subgraphs',
      'rest-facade/call.ts',
      `import pg from 'pg';`,
      /only under subgraphs/,
    ],
    [
      'an ORM in the gateway',
      'gateway/graphql/server.ts',
      `import { p } from '@mikro-orm/core';`,
      /only under subgraphs/,
    ],
    [
      'a queue outside its folder',
      'subgraphs/payments/jobs.ts',
      `import { Queue } from 'bullmq';`,
      /only in kernel\/queue/,
    ],
    [
      'Redis outside its folder',
      'rest-facade/rate-limit.ts',
      `import { Redis } from 'ioredis';`,
      /only in kernel\/queue/,
    ],
    [
      'a queue beside the rate limiter',
      'gateway/callers/buckets-in-redis.ts',
      `import { Queue } from 'bullmq';`,
      /only in kernel\/queue/,
    ],
    [
      'Apollo Gateway outside its folder',
      'rest-facade/call.ts',
      `import { x } from '@apollo/gateway';`,
      /only in gateway/,
    ],
    [
      'a development package in production',
      'gateway/graphql/server.ts',
      `import fc from 'fast-check';`,
      /under "dependencies"/,
    ],
    [
      'the schema build in production',
      'gateway/graphql/server.ts',
      `import { compose } from '../../schema/build.ts';`,
      /development packages/,
    ],
    [
      'a service that imports a test',
      'main.ts',
      `import { x } from './test/support/kit.ts';`,
      /`main.ts`, `start-roles.ts` may/,
    ],
    [
      'a client that knows the service',
      'sdk/src/client.ts',
      `import { a } from '../../schema/wire.ts';`,
      /`sdk\/` may import itself/,
    ],
    [
      'a client with a package',
      'sdk/src/client.ts',
      `import { a } from 'undici';`,
      /sdk\/ takes no package/,
    ],
    [
      'a client that runs on Node alone',
      'sdk/src/sign.ts',
      `import { createHmac } from 'node:crypto';`,
      /sdk\/ takes no package/,
    ],
    ['a file in no room', 'billing/a.ts', `import { x } from '../main.ts';`, /no room/],
  ];
  for (const [what, path, text, rule] of planted) {
    test(what, () => {
      const found = verdict(path, text);
      assert.equal(found.length > 0, true, 'nothing was caught');
      assert.match(found.join('\n'), rule);
    });
  }

  const circle = [
    ['a.ts', `import { b } from './b.ts';`],
    ['b.ts', `import type { C } from './folder/c.ts';`],
    ['folder/c.ts', `export * from '../a.ts';`],
    ['d.ts', `import { a } from './a.ts';`],
  ] as const;
  test('a circle of types and re-exports, without who only looks into it', () => {
    const edges = circle.flatMap(([path, text]) => edgesOf(path, text));
    assert.deepEqual(circlesIn(edges), [['a.ts', 'b.ts', 'folder/c.ts']]);
    assert.deepEqual(circlesIn(edges.filter(({ from }) => from !== 'b.ts')), []);
  });

  test('a file that imports itself', () => {
    assert.deepEqual(circlesIn(edgesOf('a.ts', `import type { A } from './a.ts';`)), [['a.ts']]);
  });

  test('no import that is not one: a comment, a text, import.meta', () => {
    const text = `// import '../payments/entities.ts';\nconst a = "import x from '../payments/entities.ts'";\nexport const b = [a, import.meta.dirname];`;
    assert.deepEqual(edgesOf('subgraphs/recurring/follow.ts', text), []);
  });

  test('an import whose module is only known when it runs: it is refused', () => {
    assert.throws(
      () => edgesOf('gateway/graphql/server.ts', 'await import(name);'),
      /only known when it runs/,
    );
  });
});
