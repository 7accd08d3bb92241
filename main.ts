/**
 * The entry: `node main.ts` runs every role in one process, by default on an embedded PostgreSQL;
 * scaled out, each process has its own roles, as in `node main.ts subgraph payments` or `node
 * main.ts worker`. SIGTERM, SIGINT and the loss of the process that started us stop it in order and
 * end with 0, at any moment of its life: it listens for them before it loads anything else.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import {
  listenForStop,
  stopAsked,
  throwIfStopped,
} from './subgraphs/platform/http/stop-requests.ts';
import type { SettledConfig } from './subgraphs/platform/config/config.ts';
import type { Roles } from './subgraphs/platform/config/roles.ts';
import type { Logger } from './subgraphs/platform/tracing/telemetry.ts';
import type { Running } from './start-roles.ts';

// Ignore EPIPE on stdout, for example when the terminal was closed.
process.stdout.on('error', () => {});
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** The lines of a command that creates a payment. README.md shows the same one. */
const firstPayment = (publicUrl: string, key: string): readonly string[] => {
  const body = JSON.stringify({
    amount: 10_000,
    order_id: 'order-1',
    description: 'Tea and cakes',
    return_url: 'https://example.com/thanks',
  });
  return [
    `curl -s -X POST ${publicUrl}/v1/public/payments \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' -d '${body}'`,
  ];
};

/** The text of a first start: the addresses, and a first payment to paste. */
const banner = ({ config, demo, consoleLink }: Running, madeToken: boolean): string => {
  const { publicUrl, operatorToken, graphiql } = config;
  const lines = [
    '',
    `  REST API        ${publicUrl}/v1/public`,
    `  GraphQL         ${publicUrl}/graphql   (${graphiql ? 'in a browser: GraphiQL; ' : ''}subscriptions: graphql-ws)`,
    `  Documentation   ${publicUrl}/docs`,
    `  Console         ${consoleLink ? `${consoleLink}   (once, within ten minutes; then npm run console:link)` : `${publicUrl}/console/`}`,
    // A token from the configuration is not printed, because terminals and their logs are read by
    // others.
    ...(madeToken && operatorToken !== null ? [`  Operator token  ${operatorToken}`] : []),
    ...(demo
      ? [
          `  Test key        ${demo.key}   (demo merchant, every scope)`,
          `  Webhook secret  ${demo.webhookSecret}   (of the demo shop)`,
          `  Ids             MERCHANT_ID=${demo.merchantId} SHOP_ID=${demo.shopId}`,
        ]
      : []),
    '',
  ];
  if (!demo) return lines.join('\n');
  return [
    ...lines,
    '  A first payment:',
    '',
    ...firstPayment(publicUrl, demo.key).map((line) => `  ${line}`),
    '',
    '  Open its payment_url in a browser to pay. Ctrl-C stops everything.',
    '',
  ].join('\n');
};

/** Logs the request to stop, and exits with 1 if the drain takes longer than allowed. */
const limitStop = async (
  stopping: AbortSignal,
  { drainDelay_ms, drain_ms }: SettledConfig,
  log: Logger,
): Promise<void> => {
  await stopAsked(stopping);
  setTimeout(() => {
    log.fatal({ drain_ms }, 'the drain took too long');
    process.exit(1);
  }, drainDelay_ms + drain_ms).unref();
};

const readRoleWords = async (words: readonly string[]): Promise<Roles> => {
  const [{ readRoles, roleNames }, { subgraphNames }] = await Promise.all([
    import('./subgraphs/platform/config/roles.ts'),
    import('./schema/sources.ts'),
  ]);
  const roles = readRoles(words);
  if (roles) return roles;
  process.stderr.write(
    `no such role: ${words.join(' ')}\nroles: ${roleNames.join(' | ')} (subgraph is followed by ${subgraphNames.join(', ')})\n`,
  );
  return process.exit(2);
};

const readSettings = async () => {
  const [{ readConfig }, { freePort }] = await Promise.all([
    import('./subgraphs/read-config.ts'),
    import('./subgraphs/platform/database/embedded/free-port.ts'),
  ]);
  const read = readConfig(process.env);
  return read.port === 0 ? { ...read, port: await freePort() } : read;
};

/** Prints a one-time link into the console of the running service; `words` name a person. */
const printLink = async (words: readonly string[]): Promise<void> => {
  const [config, { settle }, { askLink, readLinkWords }, { readRoles }] = await Promise.all([
    readSettings(),
    import('./subgraphs/prepare-installation.ts'),
    import('./rest-facade/console/ask-link.ts'),
    import('./subgraphs/platform/config/roles.ts'),
  ]);
  const roles = readRoles([]);
  if (roles) print(await askLink(settle(config, roles), readLinkWords(words)));
};

/**
 * Runs the service until it is asked to stop. Throws the request if it comes before the service is
 * ready.
 */
const run = async (
  roles: Roles,
  words: readonly string[],
  stopping: AbortSignal,
): Promise<void> => {
  const progress = (text: string): void => print(`  ${text}`);
  const began = performance.now();
  const read = await readSettings();
  const { beginPostgres, prepareInstallation, isEmbedded, settle } =
    await import('./subgraphs/prepare-installation.ts');
  await throwIfStopped(stopping);
  await prepareInstallation(read, roles, { progress, stopping });
  const config = settle(read, roles);
  // It starts while everything else is being loaded.
  const postgres = beginPostgres(config, roles, { progress, stopping });
  const [{ openLog }, { outliveForsakenFields }, { startRoles }] = await Promise.all([
    import('./subgraphs/platform/tracing/telemetry.ts'),
    import('./subgraphs/platform/graph/present-errors.ts'),
    import('./start-roles.ts'),
  ]);
  const log = openLog(
    config,
    words.join(' ') || 'all',
    isEmbedded(config, roles) ? join(config.dataDir, 'service.log') : null,
  );
  outliveForsakenFields(log);
  void limitStop(stopping, config, log);
  const running = await startRoles(config, roles, log, { progress, stopping, postgres });
  if (roles.migrate && !roles.all) return running.close();
  // The old generation is collected after it grows by 30 %; by default V8 goes by the memory of the
  // machine.
  setFlagsFromString('--heap-growing-percent=30');
  print(`  Ready in ${((performance.now() - began) / 1_000).toFixed(1)} s.`);
  if (roles.all) print(banner(running, read.operatorToken === null));
  // Kept for the next start now: a process that is killed keeps nothing.
  flushCompileCache();
  await stopAsked(stopping);
  await running.close();
};

const main = async (stopping: AbortSignal): Promise<number> => {
  void stopAsked(stopping).then(() => print(`Stopping (${wordsOf(stopping.reason)}) ...`));
  const words = process.argv.slice(2);
  if (words[0] === 'console:link') return printLink(words.slice(1)).then(() => 0);
  const roles = await readRoleWords(words);
  try {
    await run(roles, words, stopping);
  } catch (error) {
    // A start that is interrupted may fail with another error.
    if (!stopping.aborted) throw error;
    // Scripts that wait for the migrations must not take an interrupted run for a finished one.
    if (roles.migrate && !roles.all) return 1;
  }
  if (stopping.aborted) print('Stopped.');
  return 0;
};

const wordsOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

if (import.meta.main) {
  const code = await main(listenForStop()).catch((error: unknown) => {
    process.stderr.write(`${wordsOf(error)}\n`);
    return 1;
  });
  process.exit(code);
}
