/**
 * Starts tracing where the configuration has an address for traces. OpenTelemetry is loaded then,
 * and not otherwise.
 */
import type { Config } from '../config/config.ts';
import type { Roles } from '../config/roles.ts';
import type { Logger } from './telemetry.ts';
import { traceBy } from './tracing.ts';

/**
 * Traces this process until `stack` is disposed of, which sends the last spans. Does nothing
 * without `config.tracing`.
 */
export const startTracing = async (
  config: Pick<Config, 'tracing'>,
  roles: Roles,
  log: Logger,
  stack: AsyncDisposableStack,
): Promise<void> => {
  if (!config.tracing) return;
  const { openTracing } = await import('./open-tracing.ts');
  const names = [
    ...roles.edge,
    ...roles.subgraphs.map((name) => `subgraph ${name}`),
    ...(roles.worker ? ['worker'] : []),
  ];
  const tracing = openTracing(config.tracing, roles.all ? 'all' : names.join(' '), log);
  traceBy(tracing);
  stack.defer(async () => {
    traceBy(null);
    await tracing.close();
  });
};
