/**
 * `psp mcp`: the API as tools for an assistant, by the Model Context Protocol over stdio. It reads;
 * what changes something is there with `--allow-writes` alone, within limits.
 */
import { createHash } from 'node:crypto';
import { fromJsonSchema, McpServer, type ToolAnnotations } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Context } from '../command.ts';
import { describeFailure, Failure } from '../failure.ts';
import { readCount } from '../command-line.ts';
import { version } from '../../schemas.ts';
import {
  readTools,
  writeTools,
  type Arguments,
  type ReadTool,
  type Sum,
  type WriteTool,
} from './tools.ts';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatMoney } from '../../money.ts';
import { settingsFolder, writePrivate, type Environment } from '../settings.ts';

/* What an assistant may still do today: how often, and with how much money. */

/** The limits: calls, and minor units of each currency by itself. */
interface Limits {
  readonly amountOfCall: number;
  readonly amountOfDay: number;
  readonly callsOfDay: number;
}

interface Spent {
  readonly day: string;
  readonly calls: number;
  readonly amounts: Readonly<Record<string, number>>;
}

const look_ms = 10;
const looks_max = 200;

/** Runs the work while no other process does; a lock that stays is of a process that was killed. */
const alone = <Result>(path: string, work: () => Result): Result => {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let looks = 0; ; looks++) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (looks >= looks_max) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, look_ms);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
};

/** What stands in the way of a call; null when nothing does. */
const hindrance = (
  limits: Limits,
  { calls, amounts }: Spent,
  { amount, currency }: Sum,
): string | null => {
  const money = (of: number): string => formatMoney(of, currency, 'en');
  const used = amounts[currency] ?? 0;
  if (amount > limits.amountOfCall)
    return `${money(amount)} is above the ${money(limits.amountOfCall)} of one call (--max-amount)`;
  if (used + amount > limits.amountOfDay)
    return `${money(used)} of ${money(limits.amountOfDay)} are used today (--max-day)`;
  if (calls >= limits.callsOfDay)
    return `all ${limits.callsOfDay} calls of today are used (--max-calls)`;
  return null;
};

/**
 * Opens the allowance of a key. It counts a call before it is sent, so that one whose end is
 * unknown is counted, and gives why it may not be; null when it may. The file outlives the process.
 */
const openAllowance = (env: Environment, apiKey: string, limits: Limits) => {
  const name = createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
  const path = join(settingsFolder(env), `mcp-${name}.json`);
  const read = (): Spent => {
    const day = new Date().toISOString().slice(0, 10);
    const nothing = { day, calls: 0, amounts: {} };
    try {
      const spent = JSON.parse(readFileSync(path, 'utf8')) as Spent;
      return spent.day === day && 'amounts' in spent ? spent : nothing;
    } catch {
      return nothing;
    }
  };
  return (sum: Sum): string | null =>
    alone(path, () => {
      const spent = read();
      const why = hindrance(limits, spent, sum);
      const total = (spent.amounts[sum.currency] ?? 0) + sum.amount;
      const amounts = { ...spent.amounts, [sum.currency]: total };
      const next = { day: spent.day, calls: spent.calls + 1, amounts };
      if (why === null) writePrivate(path, `${JSON.stringify(next)}\n`);
      return why;
    });
};

/** The same arguments have the same text, whatever their order. */
const sorted = (args: Arguments): string =>
  JSON.stringify(Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The idempotency key of a call: equal calls have the same one, so an assistant that repeats itself
 * moves money once.
 */
const keyOfCall = (tool: string, args: Arguments): string =>
  `mcp-${createHash('sha256')
    .update(`${tool}\n${sorted(args)}`)
    .digest('hex')
    .slice(0, 48)}`;

const schemaOf = ({ takes, needs = [] }: ReadTool | WriteTool) =>
  fromJsonSchema<Arguments>({
    type: 'object',
    properties: takes,
    required: [...needs],
    additionalProperties: false,
  });

const answered = (value: object) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
});

/** What the assistant reads when a call fails: the API's code and message, and no stack. */
const refused = (error: unknown) => ({ ...answered(describeFailure(error).json), isError: true });

const add = (
  server: McpServer,
  tool: ReadTool | WriteTool,
  annotations: ToolAnnotations,
  call: (args: Arguments) => Promise<object>,
): void =>
  void server.registerTool(
    tool.name,
    { description: tool.says, inputSchema: schemaOf(tool), annotations },
    (args) => call(args).then(answered, refused),
  );

const addReads = (server: McpServer, { client }: Context): void => {
  for (const tool of readTools)
    add(server, tool, { readOnlyHint: true }, (args) => tool.call(client(), args));
};

/** The limits that the line names. Throws for one that is no number. */
const allowanceOf = ({ given, env, settings }: Context) =>
  openAllowance(env, settings.apiKey ?? '', {
    amountOfCall: readCount(given.text('max-amount'), 1_000_00, '--max-amount'),
    amountOfDay: readCount(given.text('max-day'), 10_000_00, '--max-day'),
    callsOfDay: readCount(given.text('max-calls'), 50, '--max-calls'),
  });

const addWrites = (
  server: McpServer,
  { client }: Context,
  take: ReturnType<typeof allowanceOf>,
): void => {
  const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
  for (const tool of writeTools)
    add(server, tool, annotations, async (args) => {
      const why = take(await tool.amount(client(), args));
      if (why !== null) throw new Failure('usage', why);
      return tool.call(client(), args, keyOfCall(tool.name, args));
    });
};

/** Serves until the other side is gone. */
export const serve = async (context: Context): Promise<void> => {
  const { given, settings, stopped } = context;
  const writes = given.has('allow-writes');
  if (writes && settings.apiKey?.startsWith('sk_live_') && !given.has('live'))
    throw new Failure('usage', 'a live key moves real money: --allow-writes needs --live with it');
  // Throws without a key.
  context.client();
  // A wrong limit ends the command here. An assistant that has connected could not be told of it.
  const take = allowanceOf(context);
  const handle = serveStdio(() => {
    const server = new McpServer(
      { name: 'payment-service', version },
      { capabilities: { tools: {} } },
    );
    addReads(server, context);
    if (writes) addWrites(server, context, take);
    return server;
  });
  await new Promise<void>((resolve) => {
    process.stdin.once('close', () => resolve());
    process.stdin.once('end', () => resolve());
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  await handle.close();
};
