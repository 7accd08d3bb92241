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
const openOperation = () => {
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
  await call('a 4', 'a 5');
  assert.deepEqual(
    sent.map(({ calls }) => calls),
    [['a 1'], ['a 2']],
  );
  await sent[0]?.end();
  assert.deepEqual(sent[2]?.calls, ['a 3', 'a 4', 'a 5']);
  await sent[2]?.end();
  await sent[1]?.end();
  assert.deepEqual(await ended(), ['done a 1', 'done a 2', 'done a 3', 'done a 4', 'done a 5']);
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

test('a thousand calls of one caller do not delay the others', async () => {
  const { call, sent } = openOperation();
  await call(...numbered('a', 1_000));
  await call(...numbered('b', 3), 'c 0');
  assert.deepEqual(
    sent.slice(2).map(({ calls }) => calls),
    [['b 0', 'b 1', 'b 2'], ['c 0']],
  );
});

test('callers never share a statement, and each is answered', async () => {
  const { call, ended, sent } = openOperation();
  await call(...numbered('a', 5), ...numbered('b', 5));
  for (let next = 0; next < sent.length; next += 1) await sent[next]?.end();
  assert.deepEqual(
    new Set(sent.map(({ calls }) => new Set(calls.map((text) => text[0])).size)),
    new Set([1]),
  );
  assert.ok(sent.length < 10, `${sent.length} statements for 10 calls`);
  assert.ok((await ended()).every((answer) => answer.startsWith('done ')));
});

test('one call that cannot succeed fails alone, and its caller goes without batches for a while', async () => {
  const { call, ended, sent } = openOperation();
  await call('a good', 'a bad', 'a fine');
  const broken = new Error('violates something');
  await sent[0]?.end(broken);
  for (let place = 1; place < sent.length; place += 1)
    await sent[place]?.end(sent[place]?.calls[0] === 'a bad' ? broken : undefined);
  assert.deepEqual(await ended(), ['done a good', 'failed', 'done a fine']);
  assert.equal(sent.length, 4, 'one statement for all, and one for each');
  await call('a 1', 'b 1', 'b 2', 'a 2');
  assert.deepEqual(
    sent.slice(4).map(({ calls }) => calls),
    [['a 1'], ['a 2'], ['b 1', 'b 2']],
  );
});

test('what was sent on a lost connection is not repeated: it may have taken effect', async () => {
  const { call, ended, sent } = openOperation();
  await call('a 1', 'a 2');
  await sent[0]?.end(new Error('Connection terminated unexpectedly'));
  assert.deepEqual(await ended(), ['failed', 'failed']);
  assert.equal(sent.length, 1);
  await call('a 3', 'a 4');
  assert.deepEqual(sent[1]?.calls, ['a 3', 'a 4'], 'no call is at fault');
});
