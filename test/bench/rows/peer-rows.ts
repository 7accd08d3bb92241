/**
 * Other gateways that can run here, over the same subgraphs in one process of their own, over HTTP,
 * with the same operations: stock Apollo, Hive Gateway, Mercurius (what it can serve), and ours
 * with every check of its edge. The peers are no packages of the service: they are installed when
 * they are first asked for.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../child-server.ts';
import {
  createDocument,
  createRequest,
  graphText,
  listRequest,
  namedDocument,
  readDocument,
  readRequest,
} from '../payment-requests.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Aim, type Row } from '../report.ts';
import type { Subject } from '../rounds.ts';
import { serverSubject } from '../subject.ts';

const key = 'sk_test_bench0_0123456789abcdef';
const id = '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0003';

interface Measured {
  readonly what: string;
  /** Over GraphQL, to every gateway. */
  readonly graph: string;
  /** The same over our REST API; null: there is no such route. */
  readonly rest: string | null;
  /**
   * Whether the compiled operation also runs behind a bare route, as the peers run without a key, a
   * limit and our headers.
   */
  readonly hasBareRoute: boolean;
  /** Whether Mercurius can serve it. */
  readonly ofPaymentsAlone: boolean;
}

const list = { status: null, from: null, to: null, first: 50, after: null, includeTest: false };
const across = `query ($id: ID!) { payment(id: $id) { id status amount createdAt shop { id name terminalName } } }`;
const listAcross = `query ($first: Int!) { payments(first: $first) { nodes { id status amount createdAt shop { id name } } pageInfo { hasNextPage endCursor } } }`;

const operations: readonly Measured[] = [
  {
    what: 'read',
    graph: readDocument(id, key),
    rest: readRequest(key, id),
    hasBareRoute: true,
    ofPaymentsAlone: true,
  },
  {
    what: 'create',
    graph: createDocument(key),
    rest: createRequest(key),
    hasBareRoute: true,
    ofPaymentsAlone: true,
  },
  {
    what: 'a list of 50',
    graph: namedDocument('ListPayments', list, key),
    rest: listRequest(key),
    hasBareRoute: false,
    ofPaymentsAlone: true,
  },
  {
    what: 'two subgraphs',
    graph: graphText(across, { id }, key),
    rest: null,
    hasBareRoute: false,
    ofPaymentsAlone: false,
  },
  {
    what: 'a list of 50 across two',
    graph: graphText(listAcross, { first: 50 }, key),
    rest: null,
    hasBareRoute: false,
    ofPaymentsAlone: false,
  },
];

const folder = join(import.meta.dirname, '../peers');

/** Installs the peers when they are not there; whether they are then. */
const installPeers = (progress: Bench['progress']): boolean => {
  const isThere = (): boolean =>
    existsSync(join(folder, 'node_modules', '@graphql-mesh', 'transport-http'));
  if (isThere()) return true;
  progress('peers: installing them (80 MB)');
  spawnSync(
    'npm',
    ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'],
    { cwd: folder, stdio: 'ignore' },
  );
  return isThere();
};

type Peer = 'Apollo' | 'Hive' | 'Mercurius';
type Name = 'ours' | 'bare' | Peer;
const programs: Readonly<Record<Name, string>> = {
  ours: 'edge-remote.ts',
  bare: 'compiled-constant.ts',
  Apollo: 'peer-apollo.ts',
  Hive: '../peers/hive.mjs',
  Mercurius: '../peers/mercurius.mjs',
};

interface Running {
  readonly name: Name;
  readonly url: string;
  readonly pid: number;
}

const startAll = async (
  names: readonly Name[],
  stack: AsyncDisposableStack,
): Promise<readonly Running[]> => {
  const subgraphs = stack.use(await startServer('constant-subgraphs.ts'));
  return Promise.all(
    names.map(async (name) => {
      const { url, pid } = stack.use(
        await startServer(programs[name], { SUBGRAPHS: subgraphs.url }),
      );
      return { name, url, pid };
    }),
  );
};

/** The aims of issue 9. */
const compiledAims: Readonly<Record<Peer, Aim | null>> = {
  Apollo: { least: 6 },
  Hive: null,
  Mercurius: { least: 1.6 },
};
const adHocAims: Readonly<Record<Peer, Aim | null>> = {
  Apollo: null,
  Hive: { least: 1 },
  Mercurius: null,
};

/** Our ways to run an operation, each with what it is to reach against each peer. */
const waysOf = (
  operation: Measured,
  subject: (name: Name, what: string, request: string) => Subject,
) => [
  ...(operation.rest !== null && operation.hasBareRoute
    ? [
        {
          way: "compiled, the edge's checks apart",
          subject: subject('bare', 'our operation', operation.rest),
          aims: compiledAims,
        },
      ]
    : []),
  ...(operation.rest === null
    ? []
    : [
        {
          way: 'compiled, whole REST route',
          subject: subject('ours', 'our REST', operation.rest),
          aims: null,
        },
      ]),
  { way: 'ad-hoc', subject: subject('ours', 'our /graphql', operation.graph), aims: adHocAims },
];

const rowsOf = async (
  operation: Measured,
  running: readonly Running[],
  bench: Bench,
): Promise<readonly Row[]> => {
  const subject = (name: Name, what: string, request: string): Subject => {
    const server = running.find((started) => started.name === name);
    if (!server) throw new Error(`${name} does not run`);
    return serverSubject(
      { name: what, url: server.url, pid: server.pid, requests: [request], postgres: null },
      bench.load,
    );
  };
  const peers = (['Apollo', 'Hive', 'Mercurius'] as const)
    .filter(
      (name) =>
        running.some((started) => started.name === name) &&
        (name !== 'Mercurius' || operation.ofPaymentsAlone),
    )
    .map((name) => ({ name, subject: subject(name, name, operation.graph) }));
  const ways = waysOf(operation, subject);
  const { many, one } = await measureBoth(
    [...peers, ...ways].map((side) => side.subject),
    bench,
    `peers, ${operation.what}`,
  );
  return peers.flatMap(({ name, subject: baseline }) =>
    ways.flatMap((way) => {
      const comparison = {
        what: `${operation.what}, ${way.way}`,
        subject: way.subject,
        baseline,
        aim: way.aims?.[name] ?? null,
      };
      return comparisonRows(comparison, many, one, connections);
    }),
  );
};

/**
 * The rows of every operation against every peer. Without a registry of packages Hive and Mercurius
 * are left out, which the progress says.
 */
export const peerRows = async (bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const installed = installPeers(bench.progress);
  if (!installed)
    bench.progress('peers: Hive and Mercurius cannot be installed here and are left out');
  const running = await startAll(
    ['ours', 'bare', 'Apollo', ...(installed ? (['Hive', 'Mercurius'] as const) : [])],
    stack,
  );
  const rows: Row[] = [];
  for (const operation of operations) rows.push(...(await rowsOf(operation, running, bench)));
  return rows;
};
