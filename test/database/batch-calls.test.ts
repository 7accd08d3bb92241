import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import {
  batch_max,
  batchesInFlight_max,
  batched,
} from '../../subgraphs/platform/database/batch-calls.ts';

/** Never connected: what is batched is decided before anything is sent. */
const pool = new pg.Pool();
after(() => pool.end());

interface Sent {
  readonly calls: readonly string[];
  /** Ends the statement: with an error, it has failed as a whole. */
  end(error?: Error): Promise<void>;
}

/** An operation whose statements end when the test says so; a call is `<caller> <number>`. */
const openOperation = (perCaller = false) => {
  const sent: Sent[] = [];
  const answers: Promise<string>[] = [];
  let inFlight = 0;
  let most = 0;
  const send = async (calls: readonly string[]): Promise<readonly string[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    inFlight += 1;
    most = Math.max(most, inFlight);
    const end = async (error?: Error): Promise<void> => {
      inFlight -= 1;
      if (error) reject(error);
      else resolve(calls.map((call) => `done ${call}`));
      await nextTurn();
      await nextTurn();
    };
    sent.push({ calls, end });
    return promise;
  };
  const call = batched<string, string>({
    name: 'test',
    callerOf: (text) => text.split(' ')[0] ?? '',
    perCaller,
    run: (_, calls) => send(calls),
  });
  return {
    sent,
    most: () => most,
    /** Calls of one turn of the event loop. */
    call: async (...texts: readonly string[]): Promise<void> => {
      for (const text of texts) {
        const answer = call(pool, text);
        answer.catch(() => {});
        answers.push(answer);
      }
      await nextTurn();
      await nextTurn();
    },
    /** What all calls came to so far, in their order. */
    ended: async (): Promise<readonly string[]> =>
      (await Promise.allSettled(answers)).map((end) =>
        end.status === 'fulfilled' ? end.value : 'failed',
      ),
  };
};

const numbered = (caller: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${caller} ${index}`);

test('the first call goes at once, and what comes while two are under way goes together', async () => {
  const { call, ended, sent, most } = openOperation();
  await call('a 1');
  await call('a 2');
  await call('a 3');
  await call('b 1', 'a 4');
  assert.deepEqual(
    sent.map(({ calls }) => calls),
    [['a 1'], ['a 2']],
  );
  await sent[0]?.end();
  assert.deepEqual(sent[2]?.calls, ['a 3', 'b 1', 'a 4']);
  await sent[2]?.end();
  await sent[1]?.end();
  assert.deepEqual(await ended(), ['done a 1', 'done a 2', 'done a 3', 'done b 1', 'done a 4']);
  assert.equal(most(), batchesInFlight_max);
});

test('a batch is bounded, and the next one takes what was left over', async () => {
  const { call, sent } = openOperation();
  await call(...numbered('a', batch_max + 10));
  assert.deepEqual(
    sent.map(({ calls }) => calls.length),
    [batch_max, 10],
  );
});

test('callers take turns: a thousand calls of one do not delay the others', async () => {
  const { call, sent } = openOperation();
  await call('a first');
  await call('a second');
  await call(...numbered('a', 1_000));
  await call(...numbered('b', 3), 'c 0');
  await sent[0]?.end();
  assert.deepEqual(sent[2]?.calls.slice(0, 7), ['a 0', 'b 0', 'c 0', 'a 1', 'b 1', 'a 2', 'b 2']);
  assert.equal(sent[2]?.calls.length, batch_max);
});

test('callers who are apart never share a statement, and each is answered', async () => {
  const { call, ended, sent } = openOperation(true);
  await call(...numbered('a', 5), ...numbered('b', 5));
  for (let next = 0; next < sent.length; next += 1) await sent[next]?.end();
  assert.deepEqual(
    new Set(sent.map(({ calls }) => new Set(calls.map((text) => text[0])).size)),
    new Set([1]),
  );
  assert.ok(sent.length < 10, `${sent.length} statements for 10 calls`);
  assert.ok((await ended()).every((answer) => answer.startsWith('done ')));
});

test('one call that cannot succeed fails alone, and its caller makes no other batch fail', async () => {
  const { call, ended, sent } = openOperation();
  await call('good 1', 'bad 1', 'good 2', 'fine 1', 'fine 2', 'fine 3');
  const broken = new Error('violates something');
  await sent[0]?.end(broken);
  for (let place = 1; place < sent.length; place += 1)
    await sent[place]?.end(sent[place]?.calls[0] === 'bad 1' ? broken : undefined);
  assert.deepEqual(await ended(), [
    'done good 1',
    'failed',
    'done good 2',
    'done fine 1',
    'done fine 2',
    'done fine 3',
  ]);
  assert.equal(sent.length, 7, 'one statement for all, and one for each');
  await call('good 3', 'bad 2', 'good 4');
  assert.deepEqual(
    sent.slice(7).map(({ calls }) => calls),
    [['bad 2'], ['good 3', 'good 4']],
  );
});

test('what was sent on a lost connection is not repeated: it may have taken effect', async () => {
  const { call, ended, sent } = openOperation();
  await call('a 1', 'b 1');
  await sent[0]?.end(new Error('Connection terminated unexpectedly'));
  assert.deepEqual(await ended(), ['failed', 'failed']);
  assert.equal(sent.length, 1);
  await call('a 2', 'b 2');
  assert.deepEqual(sent[1]?.calls, ['a 2', 'b 2'], 'no call is at fault');
});
