/**
 * A GraphQL query with a refetch. A failing query keeps its last answer, and is retried until the
 * service answers.
 */
import { useCallback, useEffect, useRef } from 'react';
import { useQuery, type AnyVariables, type TypedDocumentNode, type UseQueryState } from 'urql';
import { pageClient } from '../graph/client.ts';
import { listenReload } from '../graph/live.ts';
import { openStore } from '../store.ts';
import { isUnknown, refusalOf } from './outcome.tsx';
import { useFollow, type Followed } from './use-follow.ts';

export interface AskedList {
  readonly of: unknown;
  readonly variables: object;
}

/** The delay before a failed query is retried; it grows each time. */
const rest_ms = 500;
const rest_max_ms = 5_000;

const unanswered = openStore<Date | null>(null);
let failing = 0;

/** Null while no query of the page fails. */
export const useUnansweredSince = unanswered.use;

/** Counts a failing query; returns a function that ends it. */
const addUnanswered = (): (() => void) => {
  failing += 1;
  unanswered.set(unanswered.now() ?? new Date());
  return () => {
    failing -= 1;
    if (failing === 0) unanswered.set(null);
  };
};

/** Retries while the service does not answer. */
const useHealing = (isFailing: boolean, error: Error | undefined, again: () => void): void => {
  const rest = useRef(rest_ms);
  useEffect(() => {
    if (!isFailing) return undefined;
    rest.current = rest_ms;
    return addUnanswered();
  }, [isFailing]);
  useEffect(() => {
    if (!isFailing) return undefined;
    // Jitter: pages that lost the service together do not all return together.
    const timer = setTimeout(again, rest.current * (1 + Math.random() / 4));
    rest.current = Math.min(rest_max_ms, rest.current * 2);
    return () => clearTimeout(timer);
    // Each failure is an error of its own.
  }, [isFailing, error, again]);
};

interface Answer<Data> {
  readonly key: number | undefined;
  readonly data: Data | undefined;
  readonly error: Error | undefined;
}

const isFailure = (error: Error | undefined): boolean =>
  error !== undefined && isUnknown(refusalOf(error));

/** The last answer of a query, with the earlier data while it fails. */
const useKept = <Data>({
  data,
  error,
  operation,
}: Pick<UseQueryState<Data>, 'data' | 'error' | 'operation'>): Answer<Data> => {
  const kept = useRef<Answer<Data>>({ key: undefined, data: undefined, error: undefined });
  const key = operation?.key;
  // During a refetch there is briefly neither data nor error.
  if (data || error) {
    const before = kept.current.key === key ? kept.current.data : undefined;
    kept.current = { key, data: isFailure(error) ? (before ?? data) : data, error };
  }
  return kept.current;
};

/** The service's own answer, once; undefined where there is none. */
export const askOnce = async <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: NoInfer<Variables>,
): Promise<Data | undefined> => {
  const client = await pageClient;
  return (await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise()).data;
};

interface AskOptions {
  /** Holds the query back. */
  readonly pause?: boolean;
  /** `network-only` shows no cached data first. */
  readonly requestPolicy?: 'cache-and-network' | 'network-only';
  /** What may change the answer beside the acts of this page. */
  readonly follow?: Followed | undefined;
}

export const useAsk = <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false, requestPolicy = 'cache-and-network', follow }: AskOptions = {},
) => {
  const [state, ask] = useQuery<Data>({
    query,
    variables: { ...variables },
    pause,
    requestPolicy,
  });
  const again = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  useEffect(() => (pause ? undefined : listenReload(again)), [pause, again]);
  useFollow(again, pause ? undefined : follow);
  const { data, error } = useKept(state);
  useHealing(!pause && isFailure(error), error, again);
  return {
    data,
    error,
    fetching: state.fetching || state.stale,
    again,
    list: { of: query, variables: { ...variables } },
  };
};
