/** A shop's test clock, which operators set by GraphQL: days pass in seconds. */
import { wait } from '../retry.ts';
import { Failure } from './failure.ts';
import { askGraph, type OperatorGraph } from './operator-graph.ts';

/** A shop's test clock, as each answer in test mode has it. */
export interface TestClock {
  readonly at: string;
  readonly isFrozen: boolean;
}

/** Reads the header `X-Test-Clock`. */
export const readTestClock = ({ headers }: Response): TestClock | null => {
  const [at = '', does] = headers.get('x-test-clock')?.split('; ') ?? [];
  return at === '' ? null : { at, isFrozen: does === 'frozen' };
};

/** Why nothing happens while a clock stands. */
export const frozenSays = ({ at }: TestClock): string =>
  `the shop's test clock is frozen at ${at}: what waits for the simulated bank or for a moment continues once the clock is advanced, resumed or removed`;

/** Where the graph is, who asks, and which shop's clock it is. */
export interface ClockOf extends OperatorGraph {
  readonly merchantId: string;
  readonly shopId: string;
  readonly stopped: AbortSignal;
}

interface ClockState {
  readonly message?: string;
  readonly advancingTo?: string | null;
}

type Signal = AbortSignal | null;

const ask = async (
  clock: ClockOf,
  field: string,
  query: string,
  signal: Signal = clock.stopped,
): Promise<ClockState | null> => {
  const { merchantId, shopId } = clock;
  const variables = { m: merchantId, s: shopId };
  const data = await askGraph<Readonly<Record<string, ClockState | null>>>(
    clock,
    'the test clock',
    { query, variables },
    signal,
  );
  const state = data[field] ?? null;
  if (state?.message !== undefined)
    throw new Failure('refused', `the test clock: ${state.message}`);
  return state;
};

const change = (
  clock: ClockOf,
  field: string,
  args: string,
  signal: Signal = clock.stopped,
): Promise<ClockState | null> =>
  ask(
    clock,
    field,
    `mutation ($m: ID!, $s: ID!) { ${field}(merchantId: $m, shopId: $s${args}) {
      __typename ... on Refused { message } } }`,
    signal,
  );

const read = (clock: ClockOf): Promise<ClockState | null> =>
  ask(
    clock,
    'testClock',
    'query ($m: ID!, $s: ID!) { testClock(merchantId: $m, shopId: $s) { advancingTo } }',
  );

const removing_ms = 30_000;

/** Lets the shop live until then. A shop without a clock has one meanwhile. */
export const liveUntil = async (clock: ClockOf, moment: Date): Promise<void> => {
  const existed = (await read(clock)) !== null;
  if (!existed) await change(clock, 'testClockCreate', `, at: "${new Date().toISOString()}"`);
  try {
    await change(clock, 'testClockAdvance', `, to: "${moment.toISOString()}"`);
    while (((await read(clock))?.advancingTo ?? null) !== null) await wait(500, clock.stopped);
  } finally {
    // Also when it was stopped meanwhile.
    if (!existed) await change(clock, 'testClockRemove', '', AbortSignal.timeout(removing_ms));
  }
};
