/** What the edge asks the subgraphs on its own behalf. */
import { randomUUID } from 'node:crypto';
import type { Call } from '../../subgraphs/platform/access/principal.ts';

export const edgeCall = (name: string): Call => ({
  principal: { kind: 'edge', name },
  requestId: randomUUID(),
  isInLane: false,
});

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly Error[];
}

/** The data of an answer without errors; throws the first error otherwise. */
export const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('an answer without data');
  return data;
};
