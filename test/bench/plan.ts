/** How much is measured: rounds, their length, the load. */
import type { Load } from './load.ts';
import type { Progress } from './progress.ts';
import type { Rounds, Samples, Subject } from './rounds.ts';
import { measureInRounds } from './rounds.ts';

/** Connections of the busy rounds, of the service's pool and of the baseline's. */
export const connections = 16;
/** Connections at which calls of the same moment are many. */
export const crowd = 64;

/**
 * Sizes that the command line may set: minutes of the soak, payments of the registry, and so on.
 */
export const sizeNames = [
  'minutes',
  'payments',
  'due',
  'backlog',
  'sockets',
  'subscriptions',
  'rounds',
] as const;
export type Sizes = Readonly<Partial<Record<(typeof sizeNames)[number], number>>>;

export interface BenchPlan {
  /** Whether it only shows that everything works. */
  readonly quick: boolean;
  readonly many: Rounds;
  readonly one: Rounds;
  /** Requests before memory is looked at. */
  readonly memoryRequests: number;
  /** How often the service is started. */
  readonly starts: number;
  /** How long the service rests before it is looked at. */
  readonly restSeconds: number;
  /** Merchants among whom traffic is spread. */
  readonly merchants: number;
  /** Payments that succeed in each round. */
  readonly succeedRequests: number;
  /** Webhooks that wait for the worker when it starts. */
  readonly backlog: number;
  /** Posts of the bare loop that deliveries are compared with. */
  readonly bareWebhooks: number;
  /** How long events come at a steady rate. */
  readonly eventSeconds: number;
  /** Sockets in one process, and streams in another, that receive one event: few, and many. */
  readonly sockets: readonly [few: number, many: number];
  /** Subscriptions in the table, and those of them that are charged for the ratio. */
  readonly subscriptions: number;
  readonly dueSubscriptions: number;
  /** Subscriptions that are due at the same moment. */
  readonly dueAtOnce: number;
  /** Rows of the ledger that becomes a file, and how often it does. */
  readonly csvRows: number;
  readonly csvRounds: number;
  /** Payments of the large registry, and how often each kind of page is read. */
  readonly registryPayments: number;
  readonly registryPages: number;
  /** Whole payments whose writes are counted, and payments that lie in the table before. */
  readonly sizePayments: number;
  readonly sizeOthers: number;
  /** How long the whole service is under everything at once. */
  readonly soakMinutes: number;
}

/** A program of some size takes about so many requests until it is compiled. */
const warmUp = { requests_max: 20_000, duration_ms: 12_000 };
const quickWarmUp = { requests_max: 1_000, duration_ms: 1_000 };

/** The plan of a run; a quick one shows that everything works, not what it costs. */
export const planOf = (quick: boolean, sizes: Sizes = {}): BenchPlan => {
  const { minutes, payments, due, backlog, sockets, subscriptions, rounds } = sizes;
  const most = sockets ?? (quick ? 200 : 10_000);
  return {
    quick,
    many: {
      connections,
      ...(quick
        ? { rounds: 2, duration_ms: 400, warmUp: quickWarmUp }
        : { rounds: rounds ?? 7, duration_ms: 1_000, warmUp }),
    },
    one: {
      connections: 1,
      warmUp: null,
      ...(quick ? { rounds: 1, duration_ms: 300 } : { rounds: 5, duration_ms: 700 }),
    },
    memoryRequests: quick ? 1_000 : 10_000,
    starts: quick ? 1 : 3,
    restSeconds: quick ? 5 : 60,
    merchants: quick ? 10 : 100,
    succeedRequests: quick ? 320 : 4_800,
    backlog: backlog ?? (quick ? 2_000 : 100_000),
    bareWebhooks: quick ? 2_000 : 20_000,
    eventSeconds: quick ? 2 : 10,
    sockets: [Math.ceil(most / 10), most],
    subscriptions: subscriptions ?? (quick ? 20_000 : 1_000_000),
    dueSubscriptions: quick ? 400 : 5_000,
    dueAtOnce: due ?? (quick ? 2_000 : 100_000),
    csvRows: quick ? 100_000 : 1_000_000,
    csvRounds: quick ? 2 : 5,
    registryPayments: payments ?? (quick ? 200_000 : 5_000_000),
    registryPages: quick ? 60 : 400,
    sizePayments: quick ? 500 : 5_000,
    sizeOthers: payments ?? (quick ? 20_000 : 1_000_000),
    soakMinutes: minutes ?? (quick ? 0.2 : 5),
  };
};

/** What every part of a run is given. */
export interface Bench {
  readonly plan: BenchPlan;
  readonly load: Load;
  /** Says what is going on. */
  readonly progress: Progress;
}

/** Measures subjects, warm by now, with a crowd of connections. */
export const measureCrowd = (
  subjects: readonly Subject[],
  { plan, progress }: Bench,
  title: string,
): Promise<Samples> =>
  measureInRounds(subjects, { ...plan.many, connections: crowd, warmUp: null }, (text) =>
    progress(`${title}: ${text}`),
  );

/** Measures subjects with many connections, then with one. */
export const measureBoth = async (
  subjects: readonly Subject[],
  { plan, progress }: Bench,
  title: string,
): Promise<{ many: Samples; one: Samples }> => {
  const say = (text: string): void => progress(`${title}: ${text}`);
  const many = await measureInRounds(subjects, plan.many, say);
  return { many, one: await measureInRounds(subjects, plan.one, say) };
};
