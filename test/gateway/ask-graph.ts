/** Asking `/graphql` in the tests of the gateway. */
import assert from 'node:assert/strict';
import { testKey } from './small-graph.ts';

/** Asks with the test key, unless the headers say otherwise. */
export const post = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${testKey}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: unknown;
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
}

/** The answer, which must be JSON. */
export const read = async (response: Response): Promise<Answer> => {
  assert.match(
    response.headers.get('content-type') ?? '',
    /^application\/(graphql-response\+)?json/,
  );
  const answer: unknown = await response.json();
  assert(typeof answer === 'object' && answer !== null);
  return answer;
};

/** The codes of its errors. */
export const codesOf = async (response: Response): Promise<unknown[]> =>
  ((await read(response)).errors ?? []).map(({ extensions }) => extensions['code']);
