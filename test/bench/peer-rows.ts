/**
 * Other gateways that can run here, over the same subgraphs in one process of their own, over HTTP, with the same operations: stock Apollo, Hive Gateway,
 * Mercurius (what it can serve), and ours with every check of its edge. The peers are no packages of the service: they are installed when they are first asked for.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from './child-server.ts';
import { createDocument, createRequest, graphText, listRequest, namedDocument, readDocument, readRequest } from './payment-requests.ts';
import { connections, measureBoth, type Bench } from './plan.ts';
import { comparisonRows, type Aim, type Row } from './report.ts';
import type { Subject } from './rounds.ts';
import { serverSubject } from './subject.ts';

const key = 'sk_test_bench0_0123456789abcdef';
const id = '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0003';

interface Measured {
  readonly what: string;
  /** Over GraphQL, to every gateway. */
  readonly graph: string;
  /** The same over our REST API; null: there is no such route. */
  readonly rest: string | null;
  /** Whether Mercurius can serve it. */
  readonly ofPaymentsAlone: boolean;
}

const list = { status: null, from: null, to: null, first: 50, after: null, includeTest: false };
const across = `query ($id: ID!) { payment(id: $id) { id status amount createdAt shop { id name terminalName } } }`;
const listAcross = `query ($first: Int!) { payments(first: $first) { nodes { id status amount createdAt shop { id name } } pageInfo { hasNextPage endCursor } } }`;

const operations: readonly Measured[] = [
  { what: 'read', graph: readDocument(id, key), rest: readRequest(key, id), ofPaymentsAlone: true },
  { what: 'create', graph: createDocument(key), rest: createRequest(key), ofPaymentsAlone: true },
  { what: 'a list of 50', graph: namedDocument('ListPayments', list, key), rest: listRequest(key), ofPaymentsAlone: true },
  { what: 'two subgraphs', graph: graphText(across, { id }, key), rest: null, ofPaymentsAlone: false },
  { what: 'a list of 50 across two', graph: graphText(listAcross, { first: 50 }, key), rest: null, ofPaymentsAlone: false },
];

const folder = join(import.meta.dirname, 'peers');

/** Installs the peers when they are not there; whether they are then. */
const installPeers = (progress: Bench['progress']): boolean => {
  const isThere = (): boolean => existsSync(join(folder, 'node_modules', '@graphql-mesh', 'transport-http'));
  if (isThere()) return true;
  progress('peers: installing them (80 MB)');
  spawnSync('npm', ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  return isThere();
};

type Name = 'ours' | 'Apollo' | 'Hive' | 'Mercurius';
const programs: Readonly<Record<Name, string>> = {
  ours: 'edge-remote.ts',
  Apollo: 'peer-apollo.ts',
  Hive: '../peers/hive.mjs',
  Mercurius: '../peers/mercurius.mjs',
};

interface Running {
  readonly name: Name;
  readonly url: string;
  readonly pid: number;
}

const startAll = async (names: readonly Name[], stack: AsyncDisposableStack): Promise<readonly Running[]> => {
  const subgraphs = stack.use(await startServer('constant-subgraphs.ts'));
  return Promise.all(
    names.map(async (name) => {
      const { url, pid } = stack.use(await startServer(programs[name], { SUBGRAPHS: subgraphs.url }));
      return { name, url, pid };
    }),
  );
};

/** The aims of issue 9. */
const compiledAims: Readonly<Record<Exclude<Name, 'ours'>, Aim | null>> = { Apollo: { least: 6 }, Hive: null, Mercurius: { least: 1.6 } };
const adHocAims: Readonly<Record<Exclude<Name, 'ours'>, Aim | null>> = { Apollo: null, Hive: { least: 1 }, Mercurius: null };

const rowsOf = async (operation: Measured, running: readonly Running[], bench: Bench): Promise<readonly Row[]> => {
  const subject = ({ url, pid }: Running, name: string, request: string): Subject =>
    serverSubject({ name, url, pid, requests: [request], postgres: null }, bench.load);
  const graphs = running
    .filter(({ name }) => name !== 'Mercurius' || operation.ofPaymentsAlone)
    .map((server) => ({ name: server.name, subject: subject(server, server.name === 'ours' ? 'our /graphql' : server.name, operation.graph) }));
  const ours = running.find(({ name }) => name === 'ours');
  if (!ours) throw new Error('ours does not run');
  const rest = operation.rest === null ? null : subject(ours, 'our REST', operation.rest);
  const subjects = [...graphs.map((graph) => graph.subject), ...(rest ? [rest] : [])];
  const { many, one } = await measureBoth(subjects, bench, `peers, ${operation.what}`);
  const adHoc = graphs.find(({ name }) => name === 'ours')?.subject;
  return graphs.flatMap(({ name, subject: baseline }) => {
    if (name === 'ours' || !adHoc) return [];
    const compared = [
      ...(rest ? [{ what: `${operation.what}, compiled REST`, subject: rest, baseline, aim: compiledAims[name] }] : []),
      { what: `${operation.what}, ad-hoc`, subject: adHoc, baseline, aim: adHocAims[name] },
    ];
    return compared.flatMap((comparison) => comparisonRows(comparison, many, one, connections));
  });
};

/** The rows of every operation against every peer. Without a registry of packages Hive and Mercurius are left out, which the progress says. */
export const peerRows = async (bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const installed = installPeers(bench.progress);
  if (!installed) bench.progress('peers: Hive and Mercurius cannot be installed here and are left out');
  const running = await startAll(['ours', 'Apollo', ...(installed ? (['Hive', 'Mercurius'] as const) : [])], stack);
  const rows: Row[] = [];
  for (const operation of operations) rows.push(...(await rowsOf(operation, running, bench)));
  return rows;
};
