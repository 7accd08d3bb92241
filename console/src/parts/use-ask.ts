/** A question to the graph, and a way to ask it again. */
import { useCallback } from 'react';
import { useQuery, type AnyVariables, type TypedDocumentNode } from 'urql';

/** A query and its variables. */
export interface AskedList {
  readonly of: unknown;
  readonly variables: object;
}

interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: Error | undefined;
  readonly again: () => void;
  /** What was asked, for an export of it. */
  readonly list: AskedList;
}

/**
 * Asks; with `pause` it waits until it is taken away. By `network-only` nothing kept is shown
 * before.
 */
export const useAsk = <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  pause = false,
  requestPolicy: 'cache-and-network' | 'network-only' = 'cache-and-network',
): Asked<Data> => {
  const [{ data, error }, ask] = useQuery<Data>({
    query,
    variables: { ...variables },
    pause,
    requestPolicy,
  });
  const again = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  return { data, error, again, list: { of: query, variables: { ...variables } } };
};
