/** The import table of docs/architecture.md. A test holds the two equal, row by row. */
import type { Edge } from './edges.ts';

export interface Area {
  /** The row's two cells, as docs/architecture.md has them. */
  readonly row: readonly [area: string, mayImport: string];
  readonly holds: (path: string) => boolean;
  readonly mayImport: (edge: Edge) => boolean;
}

const under =
  (...folders: readonly string[]) =>
  (path: string) =>
    folders.some((folder) => path.startsWith(folder));
const isRules = (path: string): boolean => /^subgraphs\/(.*\/)?rules(\/|\.ts$)/.test(path);
const subgraphOf = (path: string): string => path.split('/').slice(0, 2).join('/') + '/';

/** Shared rules, as paths. */
const inRules = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `subgraphs/rules/${name}.ts`);

/** What all subgraphs share, in its order: each area may import itself and those before it. */
export const sharedAreas = [
  'rules',
  'platform/access',
  'platform/config',
  'platform/tracing',
  'platform/bus',
  'platform/http',
  'platform/graph',
  'platform/database',
  'platform/queue',
  'platform/alerts',
  'platform/events',
  'platform/clock',
  'platform/retention',
  'platform/policies',
  'platform/drafts',
  'ledger',
  'acquirers',
];

/** The place of a file's area in that order; -1 when it stands in none. */
const sharedPlace = (path: string): number =>
  sharedAreas.findIndex((area) => path.startsWith(`subgraphs/${area}/`));

/** The platform's areas that know neither a database nor a queue. */
const edgeRooms = ['access', 'bus', 'config', 'graph', 'http', 'tracing'].map(
  (area) => `subgraphs/platform/${area}/`,
);

/** The first area that holds a file is its area. */
export const areas: readonly Area[] = [
  {
    row: ['`schema/`', 'nothing of ours (generated files may name types)'],
    holds: under('schema/'),
    mayImport: ({ from, to, typeOnly }) =>
      under('schema/')(to) || (typeOnly && under('schema/generated/')(from)),
  },
  {
    row: [
      'any `rules/` or `rules.ts`',
      '`schema/{currencies,limits,generated/enums}`, `rules` and the rules of its own subgraph',
    ],
    holds: (path) => isRules(path),
    mayImport: ({ from, to }) =>
      ['schema/currencies.ts', 'schema/limits.ts', 'schema/generated/enums.ts'].includes(to) ||
      under('subgraphs/rules/')(to) ||
      (under(subgraphOf(from))(to) && isRules(to)),
  },
  {
    row: [
      '`platform/`, `ledger/`, `acquirers/`',
      `schema; of the shared areas its own and those before it: ${sharedAreas.map((name) => `\`${name}\``).join(', ')}`,
    ],
    holds: (path) => sharedPlace(path) >= 0,
    mayImport: ({ from, to }) =>
      under('schema/')(to) || (sharedPlace(to) >= 0 && sharedPlace(to) <= sharedPlace(from)),
  },
  {
    row: [
      '`subgraphs/*.ts`',
      'schema and everything under `subgraphs/`: they put it together for `main.ts`',
    ],
    holds: (path) => /^subgraphs\/[a-z-]+\.ts$/.test(path),
    mayImport: ({ to }) => under('subgraphs/', 'schema/')(to),
  },
  {
    row: ['`subgraphs/<name>/`', 'itself, the shared areas, schema; never another subgraph'],
    holds: under(
      ...['merchants', 'payments', 'payouts', 'recurring'].map((name) => `subgraphs/${name}/`),
    ),
    mayImport: ({ from, to }) => under(subgraphOf(from), 'schema/')(to) || sharedPlace(to) >= 0,
  },
  {
    row: [
      '`gateway/`',
      'gateway, schema, `platform/{access,bus,config,graph,http,tracing}`, `rules/{alert,event,ids,refusal}`',
    ],
    holds: under('gateway/'),
    mayImport: ({ to }) =>
      under(
        'gateway/',
        'schema/',
        ...edgeRooms,
        ...inRules('alert', 'event', 'ids', 'refusal'),
      )(to),
  },
  {
    row: [
      '`rest-facade/`',
      'rest-facade, gateway, schema, `platform/{access,bus,config,graph,http,tracing}`, `rules/{card,event,failure-code,ids,refusal}`',
    ],
    holds: under('rest-facade/'),
    mayImport: ({ to }) =>
      under(
        'rest-facade/',
        'gateway/',
        'schema/',
        ...edgeRooms,
        ...inRules('card', 'event', 'failure-code', 'ids', 'refusal'),
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
      "itself; of the schema the generated operations, `currencies`, `limits` and `money-format`; the pages' `amount-rules` and `card-rules`",
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
        'rest-facade/checkout/browser/card-rules.js',
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
    ...['build', 'console-operations'].map((name) => `schema/${name}.ts`),
  )(path);

const packageRules = (production: ReadonlySet<string>): readonly PackageRule[] => [
  {
    says: '@mikro-orm/*, kysely and pg only under subgraphs/',
    covers: ({ to }) => under('@mikro-orm/', 'mikro-orm')(to) || ['kysely', 'pg'].includes(to),
    allows: ({ from }) => under('subgraphs/', 'test/')(from),
  },
  {
    says: 'bullmq and ioredis only in platform/queue, ioredis also in platform/bus/connect-redis',
    covers: ({ to }) => ['bullmq', 'ioredis'].includes(to),
    allows: ({ from, to }) =>
      under('subgraphs/platform/queue/', 'test/')(from) ||
      (to === 'ioredis' && from === 'subgraphs/platform/bus/connect-redis.ts'),
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
  const area = areas.find(({ holds }) => holds(edge.from));
  const broken = packageRules(production).filter(
    ({ covers, allows }) => covers(edge) && !allows(edge),
  );
  const answered = broken.map(({ says }) => says);
  if (!area) answered.push('a file stands in no area of the import table');
  else if (edge.ours && !area.mayImport(edge))
    answered.push(`${area.row[0]} may import ${area.row[1]}`);
  return answered.map((rule) => `${edge.from} imports ${edge.to}: ${rule}`);
};
