/** The row of `psp mcp`. What serves it is loaded when it runs: it needs a package of its own. */
import type { Command } from '../command.ts';
import { Failure } from '../failure.ts';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

export const mcp: Command = {
  name: 'mcp',
  says: 'serve the API to an assistant over stdio; it reads, unless writes are allowed',
  options: {
    'allow-writes': { says: 'offer the tools that change something or move money' },
    live: { says: 'allow that with a live key, too' },
    'max-amount': { says: 'of one call; 100000 when left out', value: 'minor' },
    'max-day': { says: 'of all calls of a day (UTC); 1000000 when left out', value: 'minor' },
    'max-calls': { says: 'a day that change something; 50 when left out', value: 'count' },
  },
  run: async (context) => {
    const loaded = await import('./serve.ts').catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      throw new Failure('setup', 'psp mcp needs: npm install @modelcontextprotocol/server@2');
    });
    await loaded.serve(context);
  },
};
