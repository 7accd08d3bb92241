/** Runs a guide: its curl and psp by bash, its TypeScript by Node with the packed SDK. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tabName, type Block } from '../../rest-facade/guides/snippets.ts';
import type { Guide } from '../../rest-facade/guides/read-guide.ts';
import { acts, type Scene } from './act.ts';

type Variables = Record<string, string>;

/** What a guide is run with. */
export interface Reader {
  readonly scene: Scene;
  /** Where npm has installed the package. */
  readonly folder: string;
  readonly env: Readonly<Variables>;
  /** Where webhooks are forwarded to. */
  readonly receiver: string;
}

const perform = async (scene: Scene, name: string, args: readonly string[]) => {
  const act = acts[name];
  assert.ok(act, `there is no act ${name}`);
  return act(scene, ...args);
};

/** The value at a path such as `payment.refunds.0.id`. */
const valueAt = (json: unknown, path: string): string => {
  const value = path.split('.').reduce<any>((of, name) => of?.[name], json);
  assert.ok(['string', 'number'].includes(typeof value), `${path} is ${JSON.stringify(value)}`);
  return String(value);
};

/** Fails where an answer lacks something that a guide shows of it. "..." stands for any text. */
export const assertShown = (shown: unknown, answered: any, path = 'the answer'): void => {
  if (shown === '...') assert.equal(typeof answered, 'string', `${path} should be a text`);
  else if (typeof shown !== 'object' || shown === null) assert.deepEqual(answered, shown, path);
  else
    for (const [name, of] of Object.entries(shown))
      assertShown(of, answered?.[name], `${path}.${name}`);
};

const collect = (child: ChildProcess) => {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (out += part));
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (err += part));
  return () => ({ out, err });
};

/** Runs a snippet of a shell; gives what it printed. */
const runShell = async (block: Block, { folder, receiver }: Reader, env: Variables) => {
  const code = block.code.replaceAll('http://127.0.0.1:9000', receiver);
  const script = `set -euo pipefail\n${code}\n`;
  const child = spawn('bash', ['-c', script], { cwd: folder, env, detached: true });
  const printed = collect(child);
  if (block.isBackground) return { child, printed };
  const [status] = (await once(child, 'close')) as [number | null];
  const { out, err } = printed();
  // What curl ends with when it is refused, and psp.
  const refusal = tabName(block) === 'curl' ? 22 : 1;
  const wanted = block.refused === null ? 0 : refusal;
  assert.equal(status, wanted, `${block.name} ended with ${status}\n${out}${err}`);
  return { child: null, printed };
};

const jsonOf = (printed: string): any => {
  try {
    return JSON.parse(printed);
  } catch {
    return null;
  }
};

/** Runs what a guide shows for shells, in order. Gives how many snippets ran. */
export const runShells = async ({ steps }: Guide, reader: Reader): Promise<number> => {
  const env: Variables = { ...reader.env };
  const background: {
    child: ChildProcess;
    printed: () => { err: string };
    ended: Promise<unknown>;
  }[] = [];
  let answer: any = null;
  let ran = 0;
  try {
    for (const step of steps) {
      if (typeof step === 'string') {
        if (step.startsWith('ts:')) continue;
        const [name = '', first = '', ...rest] = step.split(' ');
        if (!first.startsWith('$') && rest.length > 0)
          env[first] = (await perform(reader.scene, name, rest.slice(1))) ?? '';
        else await perform(reader.scene, name, first ? [env[first.slice(1)] ?? ''] : []);
      } else if (step.language === 'json') assertShown(JSON.parse(step.code), answer);
      else if (step.language === 'sh') {
        const { child, printed } = await runShell(step, reader, env);
        if (child) background.push({ child, printed, ended: once(child, 'exit') });
        answer = jsonOf(printed().out);
        if (step.refused !== null && tabName(step) === 'curl')
          assert.equal(answer?.error?.code, step.refused, step.name);
        for (const [name, path] of step.values) env[name] = valueAt(answer, path);
        ran += 1;
      }
    }
    for (const { child, printed } of background)
      assert.equal(child.exitCode, null, `it has ended by itself: ${printed().err}`);
  } finally {
    for (const { child, ended } of background)
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        process.kill(-child.pid, 'SIGINT');
        await ended;
      }
  }
  return ran;
};

const opening = `import { openPaymentClient } from '@payment-service/sdk';
const client = openPaymentClient({
  apiKey: process.env['PSP_API_KEY'] ?? '',
  baseUrl: process.env['PSP_URL'] ?? '',
});`;

const acting = `const act = async (...args: readonly unknown[]): Promise<string> => {
  const response = await fetch(process.env['ACT'] ?? '', { method: 'POST', body: JSON.stringify(args) });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
};`;

/** What a guide shows in TypeScript, as one program. */
export const programOf = ({ steps }: Guide): string => {
  const parts = steps.map((step) => {
    if (typeof step !== 'string') return step.language === 'ts' ? step.code : '';
    const [name = '', first = '', second = '', ...rest] = step.replace(/^ts:/, '').split(' ');
    if (first.startsWith('$')) return `await act('${name}', ${second});`;
    if (second === '') return `await act('${name}');`;
    // A reader has no more than what the guide shows: the program gets no value of an act.
    return `await act('${name}', ${rest.map((one) => `'${one}'`).join(', ')});`;
  });
  const joined = parts.join('\n');
  const hasClient = joined.includes('const client =');
  const seen = new Set<string>();
  const imports = /^import .* from '@payment-service\/sdk';$/gm;
  const whole = joined.replaceAll(imports, (line) => {
    if (seen.has(line)) return '';
    seen.add(line);
    return line;
  });
  return `${acting}\n${hasClient ? '' : opening}\n${whole}\nprocess.exit();\n`;
};

/** How a program in Python or PHP has another person act, and shows its answer. */
const otherActing = {
  py: `import json, os, sys, urllib.request
sys.path.insert(0, os.environ["SDK"] + "/python")
def act(*args):
    urllib.request.urlopen(urllib.request.Request(os.environ["ACT"], json.dumps(args).encode()))
`,
  php: `<?php
set_include_path(getenv('SDK') . '/php');
function act(...$args) {
    file_get_contents(getenv('ACT'), false, stream_context_create(['http' => ['method' => 'POST', 'content' => json_encode($args)]]));
}
`,
} as const;

/** What a guide shows in one of them, as one program. What it does not show there is left out. */
export const otherProgramOf = ({ steps }: Guide, language: 'py' | 'php', setup: string): string => {
  const isPython = language === 'py';
  const end = isPython ? '' : ';';
  let last: Block | null = null;
  const parts = steps.map((step) => {
    if (typeof step === 'string') {
      const [name = '', first = '', ...rest] = step.split(' ');
      if (name.startsWith('ts:')) return '';
      const camel = (text: string): string =>
        text.toLowerCase().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const variable = (text: string): string =>
        isPython ? text.toLowerCase().slice(1) : `$${camel(text.slice(1))}`;
      const args = first.startsWith('$')
        ? [variable(first)]
        : rest.slice(1).map((one) => `"${one}"`);
      return `act(${[`"${name}"`, ...args].join(', ')})${end}`;
    }
    if (step.language === language) last = step;
    if (step.language === language) return step.code;
    // An answer is shown behind the call that it belongs to.
    if (step.language !== 'json' || last?.name !== step.name || last.refused !== null) return '';
    return isPython
      ? `act("shown", "${step.name}", json.dumps(answer))`
      : `act("shown", "${step.name}", json_encode($answer))${end}`;
  });
  const opened = parts.includes(setup) ? '' : setup;
  return `${otherActing[language]}\n${opened}\n${parts.join('\n')}\n`;
};

/** Runs a program that was made of a guide. */
export const runProgram = async (
  command: readonly [program: string, ...args: string[]],
  { scene, folder, env }: Reader,
  { steps }: Guide,
) => {
  const [program, ...given] = command;
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const [name, ...args]: string[] = JSON.parse(await text(request));
      if (name === 'shown') {
        const shown = steps.find(
          (step) => typeof step !== 'string' && step.language === 'json' && step.name === args[0],
        );
        assert.ok(typeof shown === 'object');
        assertShown(JSON.parse(shown.code), JSON.parse(args[1] ?? ''), shown.name);
      }
      if (name === 'shown') return void response.end();
      response.end((await perform(scene, name ?? '', args)) ?? '');
    };
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sdk = join(import.meta.dirname, '../../sdk');
  const child = spawn(program, given, {
    cwd: folder,
    env: { ...env, ACT: `http://127.0.0.1:${port}`, SDK: sdk, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const printed = collect(child);
  const [status] = (await once(child, 'close')) as [number | null];
  server.closeAllConnections();
  server.close();
  const { out, err } = printed();
  assert.equal(status, 0, `${command.join(' ')} ended with ${status}\n${out}${err}`);
  assert.ok(!/undefined|NaN/.test(out), `it printed ${out}`);
};
