/** One service and one acquirer for all facts about live mode that a file tests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openLiveHarness, type LiveHarness } from './harness.ts';

let opened: LiveHarness | null = null;

/** The harness; tests alone may ask for it. */
export const harness = (): LiveHarness => {
  if (!opened) throw new Error('the harness is opened before the first test');
  return opened;
};

/** Facts about the system by their sentences, each a test. */
export type Facts = Readonly<Record<string, () => Promise<void>>>;

/**
 * Tests these facts one after the other. The last test looks back on the whole exchange with the
 * acquirer.
 */
export const testFacts = (all: readonly Facts[]): void => {
  before(async () => {
    opened = await openLiveHarness();
  });
  after(() => opened?.close());
  for (const facts of all)
    for (const [sentence, fact] of Object.entries(facts)) test(sentence, fact);

  test('everything that was asked and answered was as the description says', async () => {
    const { violations, payments } = await harness().acquirer.books();
    assert.ok(payments.length > 5, `saw only ${payments.length} payments`);
    assert.deepEqual(violations, []);
  });
};
