/**
 * `psp mcp`: the API as tools for an assistant, by the Model Context Protocol over stdio. It reads;
 * what changes something is there with `--allow-writes` alone, within limits.
 */
import { createHash } from 'node:crypto';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Context } from '../command.ts';
import { describeFailure, Failure } from '../failure.ts';
import { readCount } from '../command-line.ts';
import { version } from '../../schemas.ts';
import { openAllowance } from './allowance.ts';
import { readTools, writeTools, type Arguments, type ReadTool, type WriteTool } from './tools.ts';

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

const addReads = (server: McpServer, { client }: Context): void => {
  for (const tool of readTools)
    server.registerTool(
      tool.name,
      {
        description: tool.says,
        inputSchema: schemaOf(tool),
        annotations: { readOnlyHint: true },
      },
      (args) => tool.call(client(), args).then(answered, refused),
    );
};

const addWrites = (server: McpServer, context: Context): void => {
  const { given, env, settings, client } = context;
  const allowance = openAllowance(env, settings.apiKey ?? '', {
    amountOfCall: readCount(given.text('max-amount'), 1_000_00, '--max-amount'),
    amountOfDay: readCount(given.text('max-day'), 10_000_00, '--max-day'),
    callsOfDay: readCount(given.text('max-calls'), 50, '--max-calls'),
  });
  const call = async (tool: WriteTool, args: Arguments): Promise<object> => {
    const why = allowance.take(await tool.amount(client(), args));
    if (why !== null) throw new Failure('usage', why);
    return tool.call(client(), args, keyOfCall(tool.name, args));
  };
  for (const tool of writeTools)
    server.registerTool(
      tool.name,
      {
        description: tool.says,
        inputSchema: schemaOf(tool),
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      },
      (args) => call(tool, args).then(answered, refused),
    );
};

/** Serves until the other side is gone. */
export const serve = async (context: Context): Promise<void> => {
  const { given, settings, stopped } = context;
  const writes = given.has('allow-writes');
  if (writes && settings.apiKey?.startsWith('sk_live_') && !given.has('live'))
    throw new Failure('usage', 'a live key moves real money: --allow-writes needs --live with it');
  // Throws without a key.
  context.client();
  const handle = serveStdio(() => {
    const server = new McpServer(
      { name: 'payment-service', version },
      { capabilities: { tools: {} } },
    );
    addReads(server, context);
    if (writes) addWrites(server, context);
    return server;
  });
  await new Promise<void>((resolve) => {
    process.stdin.once('close', () => resolve());
    process.stdin.once('end', () => resolve());
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  await handle.close();
};
