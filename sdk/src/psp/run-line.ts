/** A line of the command `psp`, wherever it is written. */
import { clientOver } from '../client.ts';
import { openTransport, type Send } from '../transport.ts';
import { version } from '../schemas.ts';
import { type Context, openOutput, shown, type Output, type Streams } from './command.ts';
import { commands } from './commands.ts';
import { describeFailure, stoppable, Stopped } from './failure.ts';
import {
  completionsOf,
  helpOf,
  helpOfAll,
  helpOfGroup,
  groupOf,
  readArguments,
  type Asked,
} from './command-line.ts';
import { apiKeyOf, readSettings, urlOf, type Environment } from './settings.ts';
import { readTestClock, type TestClock } from './operator-graph.ts';

/** Where a line is written: what is read and written there, as the process has it. */
export interface Terminal extends Streams {
  readonly env: Environment;
}

const contextOf = (
  { given }: Asked,
  { env, stdout }: Terminal,
  output: Output,
  stopped: AbortSignal,
): Context => {
  const settings = readSettings(env);
  let testClock: TestClock | null = null;
  const noting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    testClock = readTestClock(response);
    return response;
  };
  const send = (): Send => {
    const apiKey = apiKeyOf(env, settings);
    const { signingSecret } = settings;
    return stoppable(
      openTransport({ apiKey, baseUrl: urlOf(env, settings), signingSecret, fetch: noting }),
      stopped,
    );
  };
  return {
    given,
    output,
    settings,
    env,
    stdout,
    // Not before it is asked for: completion works whatever it is.
    get url() {
      return urlOf(env, settings);
    },
    stopped,
    client: () => clientOver(send()),
    send,
    testClock: () => testClock,
  };
};

/** Writes what went wrong; gives the code that the command ends with. */
export const fail = (
  { stderr }: Streams,
  error: unknown,
  json: boolean,
  takesKey: boolean,
): number => {
  const { code, text, json: described } = describeFailure(error, takesKey);
  stderr.write(shown(json ? `${JSON.stringify({ error: described })}\n` : `psp: ${text}\n`));
  return code;
};

export const isJson = (line: readonly string[]): boolean => line.includes('--json');

const runCommand = async (
  line: readonly string[],
  terminal: Terminal,
  stopped: AbortSignal,
): Promise<number> => {
  const json = isJson(line);
  let takesKey = false;
  try {
    const asked = readArguments(commands, line);
    takesKey = 'idempotency-key' in (asked.command.options ?? {});
    if (asked.given.has('help')) terminal.stdout.write(`${helpOf(asked.command)}\n`);
    else {
      const output = openOutput(terminal, json, Boolean(terminal.env['NO_COLOR']));
      await asked.command.run(contextOf(asked, terminal, output, stopped));
    }
    return 0;
  } catch (error) {
    // Whatever a stop broke off, it was the stop.
    const isStop = stopped.aborted && !(error instanceof Stopped);
    return fail(terminal, isStop ? stopped.reason : error, json, takesKey);
  }
};

/** Help, the version and completion, which need no settings; false when none of that is asked. */
const answerAtOnce = (line: readonly string[], { stdout }: Streams): boolean => {
  const [first, ...rest] = line;
  const words = line.filter((word) => !word.startsWith('-'));
  const isHelp = ['help', '--help', '-h'].some((word) => line.includes(word));
  const asked = first === 'help' ? words.slice(1) : words;
  const group = isHelp ? groupOf(commands, asked) : [];
  const command = first === 'help' ? commands.find(({ name }) => name === asked.join(' ')) : null;
  if (command) stdout.write(`${helpOf(command)}\n`);
  else if (line.length === 0 || (isHelp && asked.length === 0))
    stdout.write(`${helpOfAll(commands)}\n`);
  else if (first === '--version' || first === '-v') stdout.write(`${version}\n`);
  else if (group.length > 0) stdout.write(`${helpOfGroup(group)}\n`);
  else if (first === 'complete') {
    const found = completionsOf(commands, rest.slice(rest[0] === '--' ? 1 : 0));
    stdout.write(found.map((word) => `${word}\n`).join(''));
  } else return false;
  return true;
};

/** Runs it to its end; gives the code that the command ends with. */
export const runLine = async (
  line: readonly string[],
  terminal: Terminal,
  listenForStop: () => AbortSignal,
): Promise<number> =>
  answerAtOnce(line, terminal) ? 0 : runCommand(line, terminal, listenForStop());
