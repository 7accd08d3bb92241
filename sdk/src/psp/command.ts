/** The type of a command: a row of the table in `commands.ts`. */
import type { PaymentClient } from '../client.ts';
import type { Send } from '../transport.ts';
import type { Output, Streams } from './output.ts';
import type { Environment, Settings } from './settings.ts';
import type { TestClock } from './operator-graph.ts';

/** An option: a text with its placeholder, or a flag. */
export interface Option {
  readonly says: string;
  /** Its placeholder in the help; a flag has none. */
  readonly value?: string;
  /** Whether the command does nothing without it. */
  readonly required?: true;
  /** Whether it may be repeated; otherwise repeating it is an error. */
  readonly many?: boolean;
  /** What completion offers. */
  readonly choices?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

/** The arguments of a call. */
export interface Given {
  readonly args: readonly string[];
  readonly text: (name: string) => string | undefined;
  /** The value of a required option. */
  readonly need: (name: string) => string;
  /** Every value of a repeatable option. */
  readonly all: (name: string) => readonly string[];
  readonly has: (name: string) => boolean;
}

/** The context of a command. */
export interface Context {
  readonly given: Given;
  readonly output: Output;
  /** For what is no object: a file or a program. */
  readonly stdout: Streams['stdout'];
  readonly settings: Settings;
  readonly env: Environment;
  /** Where the service is. */
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
  /** What completion offers for the first argument. */
  readonly choices?: readonly string[];
  readonly options?: Options;
  /** Lines below the options in the help. */
  readonly notes?: readonly string[];
  readonly run: (context: Context) => Promise<void> | void;
}
