#!/usr/bin/env node
/** The command `psp`. */
import { clientOver } from '../client.ts';
import { openTransport, type Send } from '../transport.ts';
import { version } from '../version.ts';
import type { Context } from './command.ts';
import { commands } from './commands.ts';
import { describeFailure } from './failure.ts';
import { completionsOf, helpOf, helpOfAll, helpOfGroup } from './help.ts';
import { openOutput, shown, type Output } from './output.ts';
import { groupOf, readArguments, type Asked } from './read-arguments.ts';
import { apiKeyOf, readSettings, urlOf } from './settings.ts';
import { listenForStop, stoppable, Stopped } from './stop.ts';
import { readTestClock, type TestClock } from './test-clock.ts';

const { env, stdout, stderr } = process;

const contextOf = ({ given }: Asked, output: Output, stopped: AbortSignal): Context => {
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

const fail = (error: unknown, json: boolean, takesKey: boolean): void => {
  const { code, text, json: described } = describeFailure(error, takesKey);
  stderr.write(shown(json ? `${JSON.stringify({ error: described })}\n` : `psp: ${text}\n`));
  process.exitCode = code;
};

const runCommand = async (line: readonly string[], json: boolean): Promise<void> => {
  const stopped = listenForStop();
  let takesKey = false;
  try {
    const asked = readArguments(commands, line);
    takesKey = 'idempotency-key' in (asked.command.options ?? {});
    if (asked.given.has('help')) stdout.write(`${helpOf(asked.command)}\n`);
    else {
      const output = openOutput(process, json, Boolean(env['NO_COLOR']));
      await asked.command.run(contextOf(asked, output, stopped));
    }
  } catch (error) {
    // Whatever a stop broke off, it was the stop.
    const isStop = stopped.aborted && !(error instanceof Stopped);
    fail(isStop ? stopped.reason : error, json, takesKey);
  }
};

/** Help, the version and completion, which need no settings; false when none of that is asked. */
const answerAtOnce = (line: readonly string[]): boolean => {
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

const line = process.argv.slice(2);
const json = line.includes('--json');
stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads us may have had enough: `psp payments list | head`.
  if (error.code !== 'EPIPE') fail(new Error(`cannot write: ${error.code}`), json, false);
  process.exit();
});
if (!answerAtOnce(line)) await runCommand(line, json);
