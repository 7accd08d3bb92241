/** Every snippet of the guides runs against the service: by bash, by Node, by Python and by PHP. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { guideLanguages, guideNames } from '../../rest-facade/guides/pages.ts';
import { readGuide, type Guide } from '../../rest-facade/guides/read-guide.ts';
import { examplesOf, readContract } from '../../rest-facade/read-contract.ts';
import { webhookEvents } from '../../subgraphs/rules/event.ts';
import { freePort } from '../support/free-port.ts';
import type { SnippetLanguage } from '../../rest-facade/guides/snippets.ts';
import { askGraph, openReceiver } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { readText } from '../tidy/tree.ts';
import { inherited, operatorToken } from '../support/service.ts';
import { makeFundedMerchant } from '../sdk/funded.ts';
import { installPackage, runNode } from '../sdk/packed.ts';
import { isLong } from '../support/size.ts';
import {
  assertShown,
  otherProgramOf,
  programOf,
  runProgram,
  runShells,
  type Reader,
} from './run-guide.ts';

const root = join(import.meta.dirname, '../..');
const service = await openPlainService();
after(() => service.stop());

const guides = new Map<(typeof guideNames)[number], Guide>();
for (const name of guideNames) guides.set(name, await readGuide('en', name));

/** How the quickstart begins in a language: all other guides rely on it. */
const setupOf = (language: SnippetLanguage): string => {
  const block = guides
    .get('quickstart')
    ?.steps.find(
      (step) => typeof step !== 'string' && step.language === language && step.name === 'setup',
    );
  return typeof block === 'object' ? block.code : assert.fail(`no setup in ${language}`);
};

const codeIds = (guide: Guide): readonly string[] =>
  [...guide.main.matchAll(/ id="(code-[a-z0-9-]+)"/g)].map(([, id = '']) => id);

describe('the guides', { concurrency: true }, () => {
  let folder = '';
  before(async () => {
    const package_ = await installPackage();
    ({ folder } = package_);
    const bin = join(folder, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    chmodSync(join(package_.installed, 'dist/psp/main.js'), 0o755);
    symlinkSync('../@payment-service/sdk/dist/psp/main.js', join(bin, 'psp'));
    // A call that is refused ends a snippet.
    writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      noPropertyAccessFromIndexSignature: true,
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.ts'] }),
    );
    for (const [name, guide] of guides) {
      const program = programOf(guide);
      writeFileSync(join(folder, `${name}.ts`), program);
      writeFileSync(join(folder, `${name}.mjs`), stripTypeScriptTypes(program));
      for (const language of ['py', 'php'] as const)
        writeFileSync(
          join(folder, `${name}.${language}`),
          otherProgramOf(guide, language, setupOf(language)),
        );
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A reader with a shop. */
  const openReader = async (): Promise<Reader & { readonly close: () => Promise<void> }> => {
    const [merchant, { url, close }] = [await makeFundedMerchant(service), await openReceiver()];
    const [port, webhookSecret] = [await freePort(), 'whs_example'];
    const { shopSigningSecretRotate: rotated } = await askGraph(
      service,
      `mutation ($m: ID!, $s: ID!) { shopSigningSecretRotate(merchantId: $m, shopId: $s) {
        ... on ShopSigningSecretRotated { secret } } }`,
      { m: merchant.id, s: merchant.shopId },
    );
    const path = [join(folder, 'node_modules/.bin'), dirname(process.execPath)];
    const env = {
      ...inherited,
      PATH: [...path, process.env['PATH'] ?? ''].join(':'),
      HOME: folder,
      CURL_HOME: folder,
      PSP_CONFIG: join(folder, `psp-${merchant.id}`),
      PSP_URL: service.rest,
      PSP_API_KEY: merchant.key,
      OPERATOR_TOKEN: operatorToken,
      MERCHANT_ID: merchant.id,
      SHOP_ID: merchant.shopId,
      PSP_WEBHOOK_SECRET: webhookSecret,
      PSP_SIGNING_SECRET: rotated.secret,
      PORT: String(port),
    };
    const scene = { merchant, graph: service.graph, port, webhookSecret };
    return { scene, folder, env, receiver: new URL(url).origin, close };
  };

  /** Answers that are no JSON, which the files do not read; and what another guide has. */
  const notInAll = [
    'reconciliation: file',
    'webhooks: stream',
    'webhooks: verify',
    'details: signed',
  ];

  test('have every example in all languages beside the one for a shell, and answers behind those', () => {
    for (const [name, { steps }] of guides) {
      const blocks = steps.filter((step) => typeof step !== 'string');
      for (const { language, name: block, code } of blocks) {
        // A `psp` that is not installed would be fetched by a bare name.
        if (language === 'sh') assert.doesNotMatch(code, /(?<!npx --no )\bpsp [a-z]/, block);
        const isCommand = language === 'sh' && !/\bcurl\b/.test(code);
        const all = notInAll.includes(`${name}: ${block}`) ? [] : ['py', 'php'];
        const wanted = language === 'json' ? ['sh'] : isCommand ? [] : ['sh', 'ts', ...all];
        for (const other of wanted)
          assert.ok(
            blocks.some((one) => one.name === block && one.language === other),
            `${name}: ${block} is not there as ${other}`,
          );
      }
    }
  });

  test('show what each event carries, as the description of the API does', async () => {
    const { webhooks } = readContract().described;
    for (const language of guideLanguages) {
      const { main } = await readGuide(language, 'webhooks');
      for (const event of webhookEvents) {
        const [, shown = ''] =
          main.split(` id="data-${event}"`)[1]?.match(/<code>([^<]+)<\/code>/) ?? [];
        const [{ value } = { value: {} }] = examplesOf(
          webhooks[event]?.post.requestBody?.content ?? {},
        );
        const data = JSON.parse(shown.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
        assert.deepEqual(data, (value as { readonly data?: unknown }).data, event);
        assert.ok(main.includes(`href="#data-${event}"`), event);
      }
    }
  });

  test('have programs that compile', async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    await runNode(process.execPath, [compiler, '-p', folder], { cwd: folder });
  });

  const runs = {
    'curl and psp': async (reader: Reader, _: string, guide: Guide) => {
      const written = guide.steps.filter(
        (step) => typeof step !== 'string' && step.language === 'sh',
      );
      assert.equal(await runShells(guide, reader), written.length);
    },
    TypeScript: (reader: Reader, name: string, guide: Guide) =>
      runProgram(
        [process.execPath, '--enable-source-maps', join(folder, `${name}.mjs`)],
        reader,
        guide,
      ),
    Python: (reader: Reader, name: string, guide: Guide) =>
      runProgram([process.env['PYTHON'] ?? '', join(folder, `${name}.py`)], reader, guide),
    PHP: (reader: Reader, name: string, guide: Guide) =>
      runProgram([process.env['PHP'] ?? '', join(folder, `${name}.php`)], reader, guide),
  };
  const ways = ['curl and psp', 'TypeScript', 'Python', 'PHP'] as const;
  // A reader follows them from the first to the last with one shop. In short each guide is followed
  // once, by turns of the ways, and several readers with a shop each do so at the same time.
  const entries = [...guides].map(([name, guide], index) => ({ name, guide, index }));
  const readers = isLong
    ? ways.map((_, first) => ({ first, read: entries }))
    : Array.from({ length: 10 }, (_, turn) => ({
        first: 0,
        read: entries.filter(({ index }) => index % 10 === turn),
      }));
  for (const { first, read } of readers)
    describe(
      `in the order of the menu: ${read.map(({ name }) => name).join(', ')}, from way ${first} on`,
      { concurrency: 1 },
      () => {
        let reader: Awaited<ReturnType<typeof openReader>>;
        before(async () => void (reader = await openReader()));
        after(() => reader.close());
        for (const { name, guide, index } of read) {
          const of = ways[(index + first) % ways.length] ?? 'TypeScript';
          const skip =
            (of === 'Python' && !process.env['PYTHON'] && 'python3 is not installed') ||
            (of === 'PHP' && !process.env['PHP'] && 'php-cli is not installed');
          test(`${name}: ${of}`, { skip }, () => runs[of](reader, name, guide));
        }
      },
    );

  for (const [name, guide] of guides)
    for (const language of guideLanguages.filter((one) => one !== 'en'))
      test(`${name}: the same snippets in the same order in ${language}`, async () => {
        assert.deepEqual(codeIds(await readGuide(language, name)), codeIds(guide));
      });

  test('name every rule of the simulated bank, in each language', () => {
    const [, rules = ''] =
      /^## The simulated bank\n([^]*?)^## /m.exec(readText('docs/testing.md')) ?? [];
    const named = new Set([...rules.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
    assert.ok(named.size > 30, `saw only ${named.size} names`);
    for (const language of guideLanguages) {
      const text = readText(`rest-facade/guides/${language}/testing.md`);
      // Reasons of declines are written with or without marks.
      const missing = [...named].filter((name) => !text.includes(name));
      assert.deepEqual(missing, [], language);
    }
  });

  test('are found showing an answer that the service does not give', () => {
    const answer = { id: 'x', items: [{ amount: 5 }] };
    assertShown({ id: '...', items: [{ amount: 5 }] }, answer);
    for (const shown of [{ gone: null }, { items: [{ amount: 6 }] }, { items: '...' }])
      assert.throws(() => assertShown(shown, answer));
  });
});
