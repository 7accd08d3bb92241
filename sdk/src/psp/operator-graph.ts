/** The graph with the operator token: what people do, and no key may. */
import { Failure } from './failure.ts';
import type { Environment } from './settings.ts';

/** Where the graph is, and who asks. */
export interface OperatorGraph {
  readonly url: string;
  readonly operatorToken: string;
}

/** That of the environment; `needs` says what it is needed for. */
export const operatorGraphOf = (
  { url, env }: { readonly url: string; readonly env: Environment },
  needs: string,
): OperatorGraph => {
  const operatorToken = env['PSP_OPERATOR_TOKEN'];
  if (!operatorToken)
    throw new Failure(
      'setup',
      `${needs} needs the token of a person in PSP_OPERATOR_TOKEN (npm start prints the operator's)`,
    );
  return { url, operatorToken };
};

interface GraphAnswer<Data> {
  readonly errors?: readonly { readonly message: string }[];
  readonly data?: Data;
}

/** What the graph answers; throws what it refuses, which `what` names. */
export const askGraph = async <Data extends object>(
  { url, operatorToken }: OperatorGraph,
  what: string,
  { query, variables }: { readonly query: string; readonly variables: object },
  signal: AbortSignal | null,
): Promise<Data> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
    body: JSON.stringify({ query, variables }),
  });
  // The caller names what its query selects.
  const { errors, data } = (await response.json()) as GraphAnswer<Data>;
  const [error] = errors ?? [];
  if (error || !data) throw new Failure('refused', `${what}: ${error?.message ?? 'no answer'}`);
  return data;
};
