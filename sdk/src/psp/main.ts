#!/usr/bin/env node
/** The command `psp`. */
import { openPaymentClient } from '../client.ts';
import { openTransport, type ClientOptions } from '../transport.ts';
import { version } from '../version.ts';
import type { Context } from './command.ts';
import { commands } from './commands.ts';
import { describeFailure, Failure } from './failure.ts';
import { completionsOf, helpOf, helpOfAll } from './help.ts';
import { openOutput, type Output } from './output.ts';
import { readArguments, type Asked } from './read-arguments.ts';
import { defaultUrl, readSettings } from './settings.ts';

const { env } = process;

/** Stops what runs at the first Ctrl-C; the second one ends the process as usual. */
const stopped = (): AbortSignal => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Failure('refused', 'stopped')));
  return stopping.signal;
};

const contextOf = ({ given }: Asked, output: Output): Context => {
  const settings = readSettings(env);
  const url = (settings.url ?? defaultUrl).replace(/\/$/, '');
  const options = (): ClientOptions => {
    const { apiKey, signingSecret } = settings;
    if (apiKey === undefined)
      throw new Failure('setup', 'there is no key: run psp login, or set PSP_API_KEY');
    return { apiKey, baseUrl: url, signingSecret };
  };
  return {
    given,
    output,
    settings,
    env,
    url,
    stopped: stopped(),
    client: () => openPaymentClient(options()),
    send: () => openTransport(options()),
  };
};

const run = async (line: readonly string[], output: Output): Promise<void> => {
  const asked = readArguments(commands, line);
  if (asked.given.has('help')) process.stdout.write(`${helpOf(asked.command)}\n`);
  else await asked.command.run(contextOf(asked, output));
};

const [first, ...rest] = process.argv.slice(2);
if (first === undefined || first === '--help' || first === 'help')
  process.stdout.write(`${helpOfAll(commands)}\n`);
else if (first === '--version') process.stdout.write(`${version}\n`);
else if (first === 'complete') {
  const found = completionsOf(commands, rest.slice(rest[0] === '--' ? 1 : 0));
  process.stdout.write(found.map((word) => `${word}\n`).join(''));
} else {
  const json = process.argv.includes('--json');
  const output = openOutput(process, json, Boolean(env['NO_COLOR']));
  // Whoever reads us may have had enough: `psp payments list | head`.
  process.stdout.on('error', () => process.exit(0));
  try {
    await run(process.argv.slice(2), output);
  } catch (error) {
    const { code, text, json: described } = describeFailure(error);
    if (json) process.stderr.write(`${JSON.stringify({ error: described })}\n`);
    else process.stderr.write(`psp: ${text}\n`);
    process.exitCode = code;
  }
}
