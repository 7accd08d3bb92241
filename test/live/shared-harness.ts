/**
 * One service and one acquirer for all facts about live mode: they are opened before the first test
 * of the process, and stopped after the last.
 */
import { after, before } from 'node:test';
import { openLiveHarness, type LiveHarness } from './harness.ts';

let opened: LiveHarness | null = null;

before(async () => {
  opened = await openLiveHarness();
});
after(() => opened?.close());

/** The harness; tests alone may ask for it. */
export const harness = (): LiveHarness => {
  if (!opened) throw new Error('the harness is opened before the first test');
  return opened;
};

/** Facts about the system by their sentences, each a test. */
export type Facts = Readonly<Record<string, () => Promise<void>>>;
