/**
 * The entry: `node main.ts` runs every role in one process, by default on an embedded PostgreSQL; scaled out, each process has its own roles, as in
 * `node main.ts subgraph payments` or `node main.ts worker`. SIGTERM, SIGINT and the loss of the process that started us drain and end with 0.
 */
import { join } from 'node:path';
import { subgraphNames, type SubgraphName } from './schema/sources.ts';
import { freePort } from './subgraphs/kernel/database/embedded/free-port.ts';
import { ConfigError, readConfig } from './subgraphs/kernel/service/config.ts';
import { openLog, type Logger } from './subgraphs/kernel/service/telemetry.ts';
import { isEmbedded, settle, startRoles, type Running } from './start-roles.ts';

/** What a process can be. `subgraph` is followed by its name. */
const roleNames = ['all', 'gateway', 'rest-facade', 'checkout', 'subgraph', 'worker', 'migrate'] as const;

export interface Roles {
  readonly edge: ReadonlySet<'gateway' | 'rest-facade' | 'checkout'>;
  readonly subgraphs: readonly SubgraphName[];
  readonly worker: boolean;
  readonly migrate: boolean;
  readonly all: boolean;
}

/** Reads the command line; null when it names something that is no role. */
export const readRoles = (words: readonly string[]): Roles | null => {
  const subgraphs = new Set<SubgraphName>();
  const others = new Set<string>();
  const left = words.length === 0 ? ['all'] : [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const role = roleNames.find((known) => known === word);
    if (!role) return null;
    if (role !== 'subgraph') {
      others.add(role);
      continue;
    }
    const named = left.shift();
    const name = subgraphNames.find((known) => known === named);
    if (!name) return null;
    subgraphs.add(name);
  }
  const all = others.has('all');
  const has = (role: string): boolean => all || others.has(role);
  const edge = new Set((['gateway', 'rest-facade', 'checkout'] as const).filter(has));
  return { all, edge, subgraphs: all ? subgraphNames : [...subgraphs], worker: has('worker'), migrate: has('migrate') };
};

// A terminal that was closed takes no more words, and that is no reason to fail.
process.stdout.on('error', () => {});
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What a person needs first: where everything is, and a first payment to paste. */
const banner = ({ config, demo }: Running): string => {
  const { publicUrl, operatorToken, graphiql } = config;
  const lines = [
    '',
    `  REST API        ${publicUrl}/v1/public`,
    `  GraphQL         ${publicUrl}/graphql   (${graphiql ? 'in a browser: GraphiQL; ' : ''}subscriptions: graphql-ws)`,
    `  Documentation   ${publicUrl}/docs`,
    `  Operator token  ${operatorToken}`,
    ...(demo ? [`  Test key        ${demo.key}   (demo merchant, every scope)`, `  Webhook secret  ${demo.webhookSecret}   (of the demo shop)`] : []),
    '',
  ];
  if (!demo) return lines.join('\n');
  const body = JSON.stringify({ amount: 10_000, order_id: 'order-1', description: 'Tea and cakes', return_url: 'https://example.com/thanks' });
  return [
    ...lines,
    '  A first payment:',
    '',
    `  curl -s -X POST ${publicUrl}/v1/public/payments \\`,
    `    -H 'Authorization: Bearer ${demo.key}' \\`,
    `    -H 'Content-Type: application/json' -d '${body}'`,
    '',
    '  Open its payment_url in a browser to pay. Ctrl-C stops everything.',
    '',
  ].join('\n');
};

/** Drains once, whoever asks first; ends with 0 when it came to an end in time. */
const drainOnSignals = (running: Running, log: Logger): void => {
  let draining = false;
  const drain = (reason: string): void => {
    if (draining) return;
    draining = true;
    say(`Stopping (${reason}) ...`);
    setTimeout(() => {
      log.fatal({ drain_ms: running.config.drain_ms }, 'the drain took too long');
      process.exit(1);
    }, running.config.drainDelay_ms + running.config.drain_ms).unref();
    running.close().then(
      () => {
        say('Stopped.');
        process.exit(0);
      },
      (error: unknown) => {
        log.fatal({ err: error }, 'the drain failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', () => drain('SIGTERM'));
  process.once('SIGINT', () => drain('Ctrl-C'));
  process.once('disconnect', () => drain('asked to'));
  // The channel to the process that started us must not keep this one alive.
  process.channel?.unref();
};

const main = async (): Promise<void> => {
  const words = process.argv.slice(2);
  const roles = readRoles(words);
  if (!roles) {
    process.stderr.write(`no such role: ${words.join(' ')}\nroles: ${roleNames.join(' | ')} (subgraph is followed by ${subgraphNames.join(', ')})\n`);
    process.exit(2);
  }
  const read = readConfig(process.env);
  const config = settle(read.port === 0 ? { ...read, port: await freePort() } : read, roles);
  const log = openLog(config, words.join(' ') || 'all', isEmbedded(config, roles) ? join(config.dataDir, 'service.log') : null);
  const began = performance.now();
  const running = await startRoles(config, roles, log, (text) => say(`  ${text}`));
  if (roles.migrate && !roles.all) return running.close();
  drainOnSignals(running, log);
  say(`  Ready in ${((performance.now() - began) / 1_000).toFixed(1)} s.`);
  if (roles.all) say(banner(running));
};

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof ConfigError || error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
}
