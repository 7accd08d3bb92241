/** A subgraph in another process, over HTTP with connections that are kept open. Nothing is sent twice: a call may have taken effect. */
import { GraphQLError, print, type ExecutionResult } from 'graphql';
import { Pool } from 'undici';
import type { Call } from '../subgraphs/kernel/service/principal.ts';
import { principalHeader, principalSigner, requestIdHeader } from '../subgraphs/kernel/service/principal-header.ts';
import type { SubgraphExecutor } from '../subgraphs/kernel/service/subgraph.ts';
import type { Logger } from '../subgraphs/kernel/service/telemetry.ts';
import { currentSpan, spanned } from '../subgraphs/kernel/service/tracing.ts';

const connectTimeout_ms = 2_000;
/** Longer than a bank may take within a call (decision D-31: 10 s). */
const usualAnswerTimeout_ms = 20_000;
const connections = 64;

export interface RemoteExecutor extends SubgraphExecutor {
  /** Lets calls end and closes the connections. */
  close(): Promise<void>;
}

/**
 * An executor over a subgraph's endpoint, `http://host:port/subgraphs/<name>`. A subgraph that cannot be reached or does not answer as one
 * is a GraphQL error with the code `unavailable`; why is logged with the request id.
 */
export const remoteExecutor = (url: string, principalSecret: Buffer, log: Logger, answerTimeout_ms = usualAnswerTimeout_ms): RemoteExecutor => {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, connect: { timeout: connectTimeout_ms }, headersTimeout: answerTimeout_ms, bodyTimeout: answerTimeout_ms });
  const sign = principalSigner(principalSecret);
  const ask = (body: string, call: Call): Promise<ExecutionResult> =>
    spanned({ kind: 'client', name: `POST ${path}` }, async () => {
      // Also when the trace is not kept: then it is not kept there either.
      const span = currentSpan();
      const traced = span ? { traceparent: span.traceparent } : {};
      const headers = { 'content-type': 'application/json', [principalHeader]: await sign(call.principal), [requestIdHeader]: call.requestId, ...traced };
      const response = await pool.request({ method: 'POST', path, headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
      return readResult(JSON.parse(text));
    });
  return {
    prepare: (document) => {
      const query = JSON.stringify(print(document));
      return async (variables, call) => {
        try {
          return await ask(`{"query":${query},"variables":${JSON.stringify(variables)}}`, call);
        } catch (thrown) {
          log.error({ err: thrown, subgraph: url, requestId: call.requestId }, 'a subgraph did not answer');
          return { data: null, errors: [new GraphQLError('a part of the service did not answer', { extensions: { code: 'unavailable' } })] };
        }
      };
    },
    close: () => pool.close(),
  };
};

/** What a subgraph sent, as a result. Its data has been shaped by its own schema; the errors are made errors again. */
const readResult = (value: unknown): ExecutionResult => {
  if (typeof value !== 'object' || value === null || !('data' in value || 'errors' in value)) throw new Error('answered something that is no result');
  const { data = null, errors } = value as { data?: Record<string, unknown> | null; errors?: readonly unknown[] };
  return errors ? { data, errors: errors.map(readError) } : { data };
};

const readError = (value: unknown): GraphQLError => {
  const fields = new Map<string, unknown>(Object.entries(value ?? {}));
  const message = fields.get('message');
  const path = fields.get('path');
  const extensions = fields.get('extensions');
  return new GraphQLError(typeof message === 'string' ? message : 'the subgraph failed', {
    ...(Array.isArray(path) ? { path } : {}),
    ...(typeof extensions === 'object' ? { extensions: { ...extensions } } : {}),
  });
};
