/**
 * The graph with the operator token: what people do, and no key may. With it a shop's test clock is
 * set: days pass in seconds.
 */
import { wait } from '../transport.ts';
import { Failure, fetchOnce } from './failure.ts';
import type { Environment } from './settings.ts';

interface OperatorGraph {
  readonly url: string;
  readonly operatorToken: string;
}

/** That of the environment; `needs` says what it is needed for. */
export const operatorGraphOf = (
  { url, env }: { readonly url: string; readonly env: Environment },
  needs: string,
): OperatorGraph => {
  const operatorToken = env['PSP_OPERATOR_TOKEN'];
  if (!operatorToken)
    throw new Failure(
      'setup',
      `${needs} needs the token of a person in PSP_OPERATOR_TOKEN (npm start prints the operator's)`,
    );
  return { url, operatorToken };
};

interface GraphAnswer<Data> {
  readonly errors?: readonly { readonly message: string }[];
  readonly data?: Data;
}

/** What the graph answers; throws what it refuses, which `what` names. */
export const askGraph = async <Data extends object>(
  { url, operatorToken }: OperatorGraph,
  what: string,
  { query, variables }: { readonly query: string; readonly variables: object },
  signal: AbortSignal | null,
): Promise<Data> => {
  const response = await fetchOnce(`${url}/graphql`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
    body: JSON.stringify({ query, variables }),
  });
  // The caller names what its query selects. A proxy answers with something else.
  const { errors, data } = (await response.json().catch(() => ({}))) as GraphAnswer<Data>;
  const [error] = errors ?? [];
  if (error || !data) throw new Failure('refused', `${what}: ${error?.message ?? 'no answer'}`);
  return data;
};

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
