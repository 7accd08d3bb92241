/** Exports a whole list with its filters as CSV, with progress and cancellation. */
import { useEffect, useRef, useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { wholeNumber } from '../format.ts';
import { settingsNow } from '../settings.ts';
import { words } from '../words/words.ts';
import { Icon } from './icon.tsx';
import { outcomeWords, type Refusal } from '../words/outcome.ts';
import type { AskedList } from './use-ask.ts';

/** Counts the lines of a streamed CSV; a line break within quotes does not count. */
const openLineCount = (): ((text: string) => number) => {
  let isQuoted = false;
  let lines = 0;
  return (text) => {
    for (const character of text)
      if (character === '"') isQuoted = !isQuoted;
      else if (character === '\n' && !isQuoted) lines += 1;
    return lines;
  };
};

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' | 'done'; readonly rows: number }
  | { readonly kind: 'failed'; readonly refusal: Refusal | null };

/** An operation's name; the page has its text. */
const nameOf = (document: unknown): string => /^query (\w+)/m.exec(String(document))?.[1] ?? '';

const refusalIn = async (answer: Response): Promise<Refusal | null> => {
  const body: unknown = await answer.json().catch(() => null);
  const error = (body as { error?: Partial<Refusal> } | null)?.error;
  return error?.code === undefined || error.message === undefined
    ? null
    : { code: error.code, message: error.message };
};

export const offer = (blob: Blob, name: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

/** How often the count is drawn. */
const drawn_ms = 200;

/**
 * Reads the whole answer; `count` receives the rows so far. The browser may keep it on its disk.
 */
const readCounted = (answer: Response, count: (rows: number) => void): Promise<Blob> => {
  const lines = openLineCount();
  const decoder = new TextDecoder();
  let drawnAt = 0;
  const counted = answer.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        const rows = lines(decoder.decode(chunk, { stream: true })) - 1;
        controller.enqueue(chunk);
        if (performance.now() - drawnAt < drawn_ms) return;
        drawnAt = performance.now();
        count(rows);
      },
      flush: () => count(lines('') - 1),
    }),
  );
  return new Response(counted ?? null, {
    headers: { 'content-type': 'text/csv;charset=utf-8' },
  }).blob();
};

const useExport = (operation: string, variables: object) => {
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (): Promise<void> => {
    const control = new AbortController();
    running.current = control;
    let rows = 0;
    setState({ kind: 'running', rows });
    try {
      const answer = await fetch('/console/exports', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-console': graph.operationsVersion },
        body: JSON.stringify({ operation, variables, language: settingsNow().language }),
        signal: control.signal,
      });
      if (!answer.ok) return setState({ kind: 'failed', refusal: await refusalIn(answer) });
      const blob = await readCounted(answer, (counted) => {
        rows = counted;
        setState({ kind: 'running', rows });
      });
      offer(blob, `${operation.toLowerCase()}.csv`);
      return setState({ kind: 'done', rows });
    } catch {
      // A broken connection delivers only a part of the list, so nothing is saved.
      const isStopped = control.signal.aborted;
      return setState(isStopped ? { kind: 'idle' } : { kind: 'failed', refusal: null });
    }
  };
  return { state, start, stop: () => running.current?.abort() };
};

/** The button. `of` and `variables` are those of the list's query; its page is ignored. */
export const ExportButton = ({ of, variables }: AskedList) => {
  const { state, start, stop } = useExport(nameOf(of), variables);
  const isRunning = state.kind === 'running';
  return (
    <span className="export">
      <button
        type="button"
        className="button"
        aria-label={isRunning ? undefined : words.exports.startLabel}
        title={isRunning ? undefined : words.exports.startLabel}
        onClick={() => (isRunning ? stop() : void start())}
      >
        {!isRunning && <Icon name="save" />}
        {isRunning ? words.exports.stop : words.exports.start}
      </button>
      <span className="quiet" role="status">
        {isRunning && words.exports.rows(wholeNumber(state.rows))}
        {state.kind === 'done' && words.exports.done(wholeNumber(state.rows))}
        {state.kind === 'failed' &&
          `${words.exports.failed}: ${state.refusal ? outcomeWords.refusal(state.refusal) : words.failure.offline}`}
      </span>
    </span>
  );
};
