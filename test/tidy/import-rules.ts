/** The import table of docs/architecture.md. A test holds the two equal, row by row. */
import type { Edge } from './edges.ts';

export interface Room {
  /** The row's two cells, as docs/architecture.md has them. */
  readonly row: readonly [room: string, mayImport: string];
  readonly holds: (path: string) => boolean;
  readonly mayImport: (edge: Edge) => boolean;
}

const under =
  (...folders: readonly string[]) =>
  (path: string) =>
    folders.some((folder) => path.startsWith(folder));
const isRules = (path: string): boolean => /^subgraphs\/.*\/rules(\/|\.ts$)/.test(path);
const subgraphOf = (path: string): string => path.split('/').slice(0, 2).join('/') + '/';

/** Files of a folder of the kernel, as paths. */
const inKernel = (folder: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `subgraphs/kernel/${folder}/${name}.ts`);

/** The rooms of the kernel in their order: each may import itself and those before it. */
export const kernelOrder = [
  'rules',
  'service',
  'database',
  'queue',
  'alerts',
  'events',
  'clock',
  'ledger',
  'retention',
  'policies',
  'observability',
  'banks',
  'receipts',
  'drafts',
];

/** The place of a file's room in the kernel's order; -1 when it stands in none. */
const placeInKernel = (path: string): number =>
  kernelOrder.indexOf(/^subgraphs\/kernel\/([^/]+)\//.exec(path)?.[1] ?? '');

/** The first room that holds a file is its room. */
export const rooms: readonly Room[] = [
  {
    row: ['`schema/`', 'nothing of ours (generated files may name types)'],
    holds: under('schema/'),
    mayImport: ({ from, to, typeOnly }) =>
      under('schema/')(to) || (typeOnly && under('schema/generated/')(from)),
  },
  {
    row: [
      'any `rules/` or `rules.ts`',
      '`schema/{currencies,limits}`, `kernel/rules` and the rules of its own subgraph',
    ],
    holds: (path) => isRules(path),
    mayImport: ({ from, to }) =>
      ['schema/currencies.ts', 'schema/limits.ts'].includes(to) ||
      under('subgraphs/kernel/rules/')(to) ||
      (under(subgraphOf(from))(to) && isRules(to)),
  },
  {
    row: [
      '`subgraphs/kernel/`',
      `schema; of the kernel's rooms its own and those before it: ${kernelOrder.map((name) => `\`${name}\``).join(', ')}`,
    ],
    holds: (path) => under('subgraphs/kernel/')(path) && placeInKernel(path) >= 0,
    mayImport: ({ from, to }) =>
      under('schema/')(to) ||
      (under('subgraphs/kernel/')(to) &&
        placeInKernel(to) >= 0 &&
        placeInKernel(to) <= placeInKernel(from)),
  },
  {
    row: [
      '`subgraphs/*.ts`',
      'kernel, schema and every subgraph: they put them together for `main.ts`',
    ],
    holds: (path) => /^subgraphs\/[a-z-]+\.ts$/.test(path),
    mayImport: ({ to }) => under('subgraphs/', 'schema/')(to),
  },
  {
    row: ['`subgraphs/<name>/`', 'itself, kernel, schema; never another subgraph'],
    holds: (path) => under('subgraphs/')(path) && !under('subgraphs/kernel/')(path),
    mayImport: ({ from, to }) => under(subgraphOf(from), 'subgraphs/kernel/', 'schema/')(to),
  },
  {
    row: [
      '`gateway/`',
      'gateway, schema, `kernel/service`, `kernel/rules/{alert,event,refusal,repeatable,uuid}`',
    ],
    holds: under('gateway/'),
    mayImport: ({ to }) =>
      under(
        'gateway/',
        'schema/',
        'subgraphs/kernel/service/',
        ...inKernel('rules', 'alert', 'event', 'refusal', 'repeatable', 'uuid'),
      )(to),
  },
  {
    row: [
      '`rest-facade/`',
      'rest-facade, gateway, schema, `kernel/service/{access,bank-notifications,buffer,bus,config,free-texts,graph,tracing}`, `kernel/rules/{card-in-text,event,failure-code,refusal,repeatable,uuid}`',
    ],
    holds: under('rest-facade/'),
    mayImport: ({ to }) =>
      under(
        'rest-facade/',
        'gateway/',
        'schema/',
        ...inKernel('service', 'bank-notifications', 'buffer', 'bus', 'free-texts'),
        ...['access', 'config', 'graph', 'tracing'].map(
          (folder) => `subgraphs/kernel/service/${folder}/`,
        ),
        ...inKernel(
          'rules',
          'card-in-text',
          'event',
          'failure-code',
          'refusal',
          'repeatable',
          'uuid',
        ),
      )(to),
  },
  {
    row: ['`sdk/`', 'itself: it is packed alone'],
    holds: under('sdk/'),
    mayImport: ({ to }) => under('sdk/')(to),
  },
  {
    row: [
      '`console/`',
      "itself; of the schema the generated operations, `currencies`, `limits` and `money-format`; the pages' `amount-rules`",
    ],
    holds: under('console/'),
    mayImport: ({ to }) =>
      under('console/')(to) ||
      [
        'schema/generated/console.ts',
        'schema/currencies.ts',
        'schema/limits.ts',
        'schema/money-format.ts',
        'rest-facade/checkout/browser/amount-rules.js',
      ].includes(to),
  },
  {
    row: ['`main.ts`, `start-roles.ts`', 'everything: they wire the roles together'],
    holds: (path) => ['main.ts', 'start-roles.ts'].includes(path),
    mayImport: ({ to }) => !under('test/')(to),
  },
  {
    row: ['`test/`', 'everything; nothing imports it'],
    holds: under('test/'),
    mayImport: () => true,
  },
];

interface PackageRule {
  /** The rule, in words. */
  readonly says: string;
  readonly covers: (edge: Edge) => boolean;
  readonly allows: (edge: Edge) => boolean;
}

/**
 * What of Node a decision may use: digests and signatures, which give the same answer every time.
 */
const pureCrypto = ['createHash', 'createHmac', 'timingSafeEqual'];

/** Programs that never run in an installation without development packages. */
const isDevelopmentProgram = (path: string): boolean =>
  under(
    'test/',
    'sdk/',
    ...['build', 'client-types', 'console-operations'].map((name) => `schema/${name}.ts`),
  )(path);

const packageRules = (production: ReadonlySet<string>): readonly PackageRule[] => [
  {
    says: '@mikro-orm/*, kysely and pg only under subgraphs/',
    covers: ({ to }) => under('@mikro-orm/', 'mikro-orm')(to) || ['kysely', 'pg'].includes(to),
    allows: ({ from }) => under('subgraphs/', 'test/')(from),
  },
  {
    says: 'bullmq and ioredis only in kernel/queue, ioredis also in kernel/service/connect-redis',
    covers: ({ to }) => ['bullmq', 'ioredis'].includes(to),
    allows: ({ from, to }) =>
      under('subgraphs/kernel/queue/', 'test/')(from) ||
      (to === 'ioredis' && from === 'subgraphs/kernel/service/connect-redis.ts'),
  },
  {
    says: '@apollo/gateway only in gateway/',
    covers: ({ to }) => to === '@apollo/gateway',
    allows: ({ from }) => under('gateway/', 'test/')(from),
  },
  {
    says: 'sdk/ takes no package, and nothing of Node but for its command, whose mcp/ takes one',
    covers: ({ from, ours }) => !ours && under('sdk/')(from),
    allows: ({ from, to }) =>
      under('sdk/src/psp/')(from) &&
      (to.startsWith('node:') ||
        (to === '@modelcontextprotocol/server' && under('sdk/src/psp/mcp/')(from))),
  },
  {
    says: 'rules/ take no package, and of Node only digests and signatures',
    covers: ({ from, ours }) => !ours && isRules(from),
    allows: ({ to, names }) =>
      to === 'node:crypto' && names.length > 0 && names.every((name) => pureCrypto.includes(name)),
  },
  {
    says: 'what runs in production imports only packages under "dependencies"',
    covers: ({ from, ours, to, typeOnly }) =>
      !ours &&
      !typeOnly &&
      !to.startsWith('node:') &&
      !isDevelopmentProgram(from) &&
      !under('console/')(from),
    allows: ({ to }) => production.has(to),
  },
  {
    says: 'what runs in production does not import schema/build.ts, which needs development packages',
    covers: ({ from, to, typeOnly }) =>
      to.startsWith('schema/') &&
      isDevelopmentProgram(to) &&
      !typeOnly &&
      !isDevelopmentProgram(from),
    allows: () => false,
  },
];

/**
 * Which rules an edge breaks, in words; empty when none. `production` are the names under
 * "dependencies".
 */
export const violations = (edge: Edge, production: ReadonlySet<string>): readonly string[] => {
  const room = rooms.find(({ holds }) => holds(edge.from));
  const broken = packageRules(production).filter(
    ({ covers, allows }) => covers(edge) && !allows(edge),
  );
  const answered = broken.map(({ says }) => says);
  if (!room) answered.push('a file stands in no room of the import table');
  else if (edge.ours && !room.mayImport(edge))
    answered.push(`${room.row[0]} may import ${room.row[1]}`);
  return answered.map((rule) => `${edge.from} imports ${edge.to}: ${rule}`);
};
