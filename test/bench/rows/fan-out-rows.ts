/**
 * What a socket and a stream cost the process that holds them: of few and of many, before events
 * and after them, and again when all had left; and how soon one event has reached every one. The
 * same is then done to a bare server of the same libraries.
 */
import { holdReaders, startEdge, type openers, type Readers } from '../live-readers.ts';
import type { Bench } from '../plan.ts';
import { saying } from '../progress.ts';
import type { Row } from '../report.ts';
import { median } from '../rounds.ts';

/**
 * Memory is flat when many, later and newly opened ones cost at most 1.25 times what the first did.
 */
const flat_min = 0.8;
const events = 7;

type Kind = keyof typeof openers;

interface Cost {
  /**
   * Resident bytes of each of the many; the others are bytes of what is alive, which say it more
   * exactly.
   */
  readonly resident: number;
  /** Of each of the few, and of each that came until there were many. */
  readonly first: number;
  readonly further: number;
  /**
   * Of each of the many after they have received events, and after all have left and as many have
   * come again.
   */
  readonly later: number;
  readonly again: number;
  /** Milliseconds until all have received an event: few, and many. */
  readonly few_ms: readonly number[];
  readonly many_ms: readonly number[];
}

const timeEvents = async (readers: Readers): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let event = 0; event < events; event += 1) times.push(await readers.timeEvent());
  // The first finds everything cold.
  return times.slice(1);
};

/**
 * One server through all steps. Each has the machine's sockets to itself: both at once would be
 * more than a process may have open.
 */
const costOf = async (
  kind: Kind,
  program: string,
  [few, many]: readonly [number, number],
  progress: Bench['progress'],
): Promise<Cost> => {
  await using stack = new AsyncDisposableStack();
  progress(`starting ${program}`);
  const edge = await startEdge(program, kind === 'streams' ? many : 0, stack);
  const readers = holdReaders(kind, edge, stack);
  const step = <Result>(answered: string, work: Promise<Result>): Promise<Result> =>
    saying(work, () => progress(`${answered}, ${readers.count()} are open`));
  const fill = (count: number): Promise<void> => step(`opening ${count}`, readers.openUntil(count));
  const empty = await edge.memory();
  await fill(few);
  const withFew = await edge.memory();
  const few_ms = await step('an event', timeEvents(readers));
  const afterFew = await edge.memory();
  await fill(many);
  const withMany = await edge.memory();
  const many_ms = await step('an event', timeEvents(readers));
  const afterEvents = await edge.memory();
  await step('all leave', readers.closeAll());
  await fill(many);
  const cameAgain = await edge.memory();
  return {
    resident: (withMany.rss - empty.rss) / many,
    first: (withFew.used - empty.used) / few,
    further: (withMany.used - afterFew.used) / (many - few),
    later: (afterEvents.used - empty.used) / many,
    again: (cameAgain.used - empty.used) / many,
    few_ms,
    many_ms,
  };
};

const KiB = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KiB`;

const rowsOf = (
  kind: Kind,
  [few, many]: readonly [number, number],
  ours: Cost,
  bare: Cost,
): readonly Row[] => {
  const n = (count: number): string => count.toLocaleString('en');
  const [one, against] = kind === 'sockets' ? ['socket', 'bare ws'] : ['stream', 'bare http'];
  const flat = { least: flat_min };
  const row = (
    what: string,
    than: string,
    ratio: number,
    aim: Row['aim'],
    figures: string,
  ): Row => {
    return { what, against: than, ratio, aim, rounds: 1, figures };
  };
  const toAll = (count: number, mine: readonly number[], its: readonly number[]): Row => ({
    what: `one event to ${n(count)} ${kind}`,
    against,
    ratio: median(mine.map((took_ms, round) => (its[round] ?? Number.NaN) / took_ms)),
    aim: null,
    rounds: mine.length,
    figures: `all have received it within ${median(mine).toFixed(0)} ms, ${((count * 1_000) / median(mine)).toFixed(0)}/s, to ${median(its).toFixed(0)} ms`,
  });
  return [
    toAll(few, ours.few_ms, bare.few_ms),
    toAll(many, ours.many_ms, bare.many_ms),
    row(
      `memory of a ${one}, of ${n(many)} in one process`,
      against,
      bare.resident / ours.resident,
      null,
      `resident: ${KiB(ours.resident)} to ${KiB(bare.resident)}; alive: ${KiB(ours.further)} to ${KiB(bare.further)}`,
    ),
    row(
      `the same, of the ${n(many - few)} that came last`,
      `of the first ${n(few)}`,
      ours.first / ours.further,
      flat,
      `${KiB(ours.further)} to ${KiB(ours.first)}`,
    ),
    row(
      `the same, when all had left and come again`,
      'before they left',
      ours.later / ours.again,
      flat,
      `alive: ${KiB(ours.again)} to ${KiB(ours.later)}`,
    ),
  ];
};

const rowsOfKind = async (
  kind: Kind,
  { plan: { sockets }, progress }: Bench,
): Promise<readonly Row[]> => {
  const cost = (program: string): Promise<Cost> =>
    costOf(kind, program, sockets, (text) => progress(`${kind}: ${text}`));
  return rowsOf(kind, sockets, await cost('live-edge.ts'), await cost('bare-live.ts'));
};

/** The rows of sockets that subscribe over graphql-ws. */
export const socketRows = (bench: Bench): Promise<readonly Row[]> => rowsOfKind('sockets', bench);

/** The rows of event streams. */
export const streamRows = (bench: Bench): Promise<readonly Row[]> => rowsOfKind('streams', bench);
