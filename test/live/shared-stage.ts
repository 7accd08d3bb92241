/**
 * One service and one acquirer for all facts about live mode: they are opened before the first test
 * of the process, and stopped after the last.
 */
import { after, before } from 'node:test';
import { openLiveStage, type LiveStage } from './stage.ts';

let opened: LiveStage | null = null;

before(async () => {
  opened = await openLiveStage();
});
after(() => opened?.close());

/** The stage; tests alone may ask for it. */
export const stage = (): LiveStage => {
  if (!opened) throw new Error('the stage is opened before the first test');
  return opened;
};

/** Facts about the system by their sentences, each a test. */
export type Facts = Readonly<Record<string, () => Promise<void>>>;
