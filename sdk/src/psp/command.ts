/** A command, which is a row of the table in `commands.ts`, and what it prints. */
import type { PaymentClient } from '../client.ts';
import type { Send } from '../transport.ts';
import type { TestClock } from './operator-graph.ts';
import type { Environment, Settings } from './settings.ts';

/** An option: a text with its placeholder, or a flag. */
export interface Option {
  readonly says: string;
  /** Its placeholder in the help; a flag has none. */
  readonly value?: string;
  /** Whether the command does nothing without it. */
  readonly required?: true;
  /** Whether it may be repeated; otherwise repeating it is an error. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

export interface Given {
  readonly args: readonly string[];
  readonly text: (name: string) => string | undefined;
  /** The value of a required option. */
  readonly need: (name: string) => string;
  /** Every value of a repeatable option. */
  readonly all: (name: string) => readonly string[];
  readonly has: (name: string) => boolean;
}

// Results go to stdout, everything else to stderr.

export interface Output {
  readonly json: boolean;
  /** A result: an object, or with `--json` its JSON on one line. */
  readonly result: (value: object, text?: string) => void;
  readonly remark: (text: string) => void;
  /** Replaces the last line of progress, on stderr; nothing where stderr is no terminal. */
  readonly progress: (text: string) => void;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** What is written to, as the process has it. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text without what would command a terminal or turn its lines around; lines stay. */
export const shown = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029]/gu, escaped);

/** Cells of one line, which texts from others cannot break. */
export const row = (...cells: readonly string[]): string =>
  cells.map((cell) => shown(cell).replaceAll(/[\n\t]/g, escaped)).join('  ');

/** Stands for the beginning of a colour until the text is written; no other text contains it. */
const colour = crypto.randomUUID();

const written = (value: unknown): string => {
  if (typeof value === 'string') return value === '' ? '-' : value;
  return value === null || value === undefined ? '-' : JSON.stringify(value);
};

/** An object as lines of names and values. */
const linesOf = (value: object): string => {
  const entries = Object.entries(value);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, of]) => row(name.padEnd(width), written(of))).join('\n');
};

/** Opens the output. Colours are for terminals, and not where NO_COLOR is set. */
export const openOutput = (
  { stdout, stderr }: Streams,
  json: boolean,
  noColour: boolean,
): Output => {
  const coloured = stdout.isTTY === true && !noColour && !json;
  const paint = (code: number) => (text: string) =>
    coloured ? `${colour}${code}m${text}${colour}0m` : text;
  const print = (text: string): string => shown(text).replaceAll(colour, '\u001B[');
  const isTerminal = stderr.isTTY === true;
  return {
    json,
    result: (value, text) =>
      void stdout.write(`${print(json ? JSON.stringify(value) : (text ?? linesOf(value)))}\n`),
    remark: (text) => void stderr.write(`${shown(text)}\n`),
    progress: (text) => void (isTerminal && stderr.write(`\r\u001B[K${text}`)),
    good: paint(32),
    bad: paint(31),
    dim: paint(2),
  };
};

export interface Context {
  readonly given: Given;
  readonly output: Output;
  /** For what is no object: a file or a program. */
  readonly stdout: Streams['stdout'];
  readonly settings: Settings;
  readonly env: Environment;
  readonly url: string;
  /** Aborted by Ctrl-C. */
  readonly stopped: AbortSignal;
  /** The API by the key; throws when there is none. */
  readonly client: () => PaymentClient;
  /** The same, for raw answers. */
  readonly send: () => Send;
  /** What the last answer said of the shop's test clock; null where there is none. */
  readonly testClock: () => TestClock | null;
}

export interface Command {
  /** `payments create`. */
  readonly name: string;
  readonly says: string;
  /** The arguments in the help: `<id>` is required, `[id]` is optional. */
  readonly args?: string;
  readonly choices?: readonly string[];
  readonly options?: Options;
  readonly notes?: readonly string[];
  readonly run: (context: Context) => Promise<void> | void;
}
