/** The package as a shop installs it: linters of packages accept it, its README's examples run. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import manifest from '../../sdk/package.json' with { type: 'json' };
import contract from '../../schema/generated/contract.json' with { type: 'json' };
import { apiVersion, signWebhook, version } from '../../sdk/src/index.ts';
import { rotateSigningSecret } from '../support/cabinet.ts';
import { openPlainService } from '../support/plain-service.ts';
import { makeFundedMerchant } from './funded.ts';
import { findNode20, installPackage, runNode } from './packed.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { isLong } from '../support/size.ts';
import { projectFiles, readText } from '../tidy/tree.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'sdk/README.md'), 'utf8');
/** The examples with their headings; the first opens the client that the others use. */
const [opening, ...examples] = [...readme.matchAll(/^## (.+)$|^```ts\n([^]*?)^```$/gm)]
  .reduce<{ readonly title: string; readonly code: string }[]>((found, [, title, code]) => {
    if (title !== undefined) found.push({ title, code: '' });
    else found.push({ title: found.at(-1)?.title ?? '', code: code ?? '' });
    return found;
  }, [])
  .filter(({ code }) => code !== '');

/** Every text for people, by its path. */
const documents = projectFiles()
  .filter((path) => path.endsWith('.md'))
  .map((path) => [path, readText(path)] as const);

const service = await openPlainService();
after(() => service.stop());
const node20 = await findNode20();

/** Runs a receiver of webhooks, which takes a genuine delivery and no other. */
const deliverTo = async (node: string, path: string): Promise<void> => {
  const [port, secret] = [await freePort(), 'whs_example'];
  const env = { ...process.env, PORT: String(port), PSP_WEBHOOK_SECRET: secret };
  const receiver = spawn(node, [path], {
    env: { ...env, PSP_API_KEY: 'sk_test_aaaaaa_x', PSP_URL: service.rest },
    stdio: 'ignore',
  });
  const ended = once(receiver, 'exit');
  const body = JSON.stringify({ id: 'evt_1', event: 'payment.succeeded', data: { net: 1 } });
  const deliver = async (signedBy: string): Promise<number> => {
    const headers = { 'x-psp-signature': await signWebhook(body, signedBy) };
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
  };
  try {
    const taken = () => deliver(secret).catch(() => null);
    assert.equal(await eventually(taken, 'the receiver'), 200);
    assert.equal(await deliver('whs_another'), 400);
  } finally {
    receiver.kill();
    await ended;
  }
};

describe('the package', () => {
  let folder = '';
  let tarball = '';
  let installed = '';
  before(async () => {
    ({ folder, tarball, installed } = await installPackage());
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('is run by its own file, in the configuration of an assistant too, and never by a name of the registry', () => {
    const [, json = ''] = /^```json\n([^]*?)^```$/m.exec(readme) ?? [];
    const { command, args } = JSON.parse(json).mcpServers.payments;
    const [file = '', ...rest] = args;
    assert.deepEqual([command, rest], ['node', ['mcp']]);
    const own = file.slice(file.indexOf('node_modules/'));
    assert.ok(existsSync(join(folder, own)), own);
    for (const [path, text] of documents)
      assert.doesNotMatch(text, /\b(?:npx|bunx|npm exec|(?:pnpm|yarn) dlx)\s+[@\w]/, path);
  });

  test('has a name with a scope, which every document uses, as a shop installs it', async (t) => {
    assert.match(manifest.name, /^@[a-z-]+\/[a-z-]+$/);
    const file = `${manifest.name.slice(1).replace('/', '-')}-${version}.tgz`;
    assert.equal(basename(tarball), file);
    for (const [path, text] of documents) {
      const named = text.replaceAll(file, '').match(/[@\w./-]*payment-service[-/]sdk/g) ?? [];
      for (const name of named) assert.ok(name.endsWith(manifest.name), `${path}: ${name}`);
    }
    const shop = mkdtempSync(join(tmpdir(), 'payments-shop-'));
    t.after(() => rmSync(shop, { recursive: true, force: true }));
    writeFileSync(join(shop, 'package.json'), '{}');
    const installing = ['install', '--offline', '--no-audit', '--no-fund', tarball];
    await promisify(execFile)('npm', installing, { cwd: shop });
    const psp = join(shop, 'node_modules/.bin/psp');
    assert.equal((await runNode(psp, ['--version'], { cwd: shop })).trim(), version);
  });

  test('has no dependencies, and says the version that its program says and the API that it speaks', () => {
    const unpacked = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const kind of ['dependencies', 'optionalDependencies'])
      assert.equal(unpacked[kind], undefined);
    for (const peer of Object.keys(unpacked.peerDependencies))
      assert.deepEqual([peer, unpacked.peerDependenciesMeta[peer]], [peer, { optional: true }]);
    assert.deepEqual([manifest.version, manifest.apiVersion], [version, apiVersion]);
    assert.equal(apiVersion, contract.info.version);
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.ok(readme.includes(`Version ${version} speaks the API \`${apiVersion}\``));
  });

  test('is accepted by publint', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
    assert.deepEqual(messages, []);
  });

  if (isLong)
    test('is accepted by arethetypeswrong, as a module', async () => {
      const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
      const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
      assert.ok(analysis.types, 'no types were found');
      // The package is for modules: a compiler that does not know that they can be required warns.
      const problems = analysis.problems.filter(
        (problem) => !('resolutionKind' in problem) || problem.resolutionKind !== 'node16-cjs',
      );
      assert.deepEqual(problems, []);
    });

  test('is required by CommonJS where Node can require modules', async () => {
    const program = join(folder, 'required.cjs');
    const text = `const { version } = require('${manifest.name}'); console.log(version);`;
    writeFileSync(program, text);
    for (const node of new Set([node20 ?? process.execPath, process.execPath]))
      assert.equal((await runNode(node, [program], { cwd: folder })).trim(), version);
  });

  test('has source maps that lead to sources in it', () => {
    const map = JSON.parse(readFileSync(join(installed, 'dist/transport.js.map'), 'utf8'));
    const [source] = map.sources;
    const text = readFileSync(join(installed, 'dist', source), 'utf8');
    assert.match(text, /export const openTransport/);
  });

  test('has the command psp, which the oldest Node runs', async () => {
    const psp = join(installed, manifest.bin.psp);
    assert.match(readFileSync(psp, 'utf8'), /^#!\/usr\/bin\/env node\n/);
    const printed = await runNode(node20 ?? process.execPath, [psp, '--version'], { cwd: folder });
    assert.equal(printed.trim(), version);
    const help = await runNode(node20 ?? process.execPath, [psp, '--help'], { cwd: folder });
    assert.match(help, /psp listen/);
  });

  test('has a README whose examples compile and run', async (t) => {
    const { code: begin = '' } = opening ?? {};
    assert.ok(examples.length > 12, `saw only ${examples.length} examples`);
    const programs = examples.map(({ title, code }, index) => {
      const name = `example-${index}`;
      // An import of the example stands first.
      const text = `${begin}${code}`;
      writeFileSync(join(folder, `${name}.ts`), text);
      writeFileSync(join(folder, `${name}.mjs`), stripTypeScriptTypes(text));
      return { title, path: join(folder, `${name}.mjs`) };
    });
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
    };
    const tsconfig = { compilerOptions, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    await runNode(process.execPath, [compiler, '-p', folder], { cwd: folder });

    const merchant = await makeFundedMerchant(service);
    const secret = await rotateSigningSecret(service, merchant);
    const env = {
      PSP_API_KEY: merchant.key,
      PSP_URL: service.rest,
      PSP_SIGNING_SECRET: secret,
    };
    // The live stream's example waits for another program's payment.
    const buy = () => void merchant.call('POST', '/payments', { amount: 100 }).catch(() => {});
    const buying = setInterval(buy, 500);
    t.after(() => clearInterval(buying));
    for (const [index, { title, path }] of programs.entries()) {
      // In turn by the oldest Node and by ours.
      const node = index % 2 === 0 ? (node20 ?? process.execPath) : process.execPath;
      if (title === 'Webhooks') {
        await deliverTo(node, path);
        continue;
      }
      const printed = await runNode(node, ['--enable-source-maps', path], { cwd: folder, env });
      t.diagnostic(`${title}: ${printed.trim().split('\n').at(-1)}`);
      assert.ok(!/undefined|NaN/.test(printed), `${title} printed ${printed}`);
    }
  });
});
