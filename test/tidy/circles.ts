/** Circles of imports: files each of which reaches all the others. */
import type { Edge } from './edges.ts';

/** What the search knows of one file (Tarjan's strongly connected components). */
interface Visit {
  readonly order: number;
  low: number;
  onStack: boolean;
}

/**
 * The circles among the files of ours, types and imports of a file by itself included: each as its
 * files in alphabetical order.
 */
export const circlesIn = (edges: readonly Edge[]): readonly (readonly string[])[] => {
  const ours = edges.filter((edge) => edge.ours);
  const imports = Map.groupBy(ours, ({ from }) => from);
  const visits = new Map<string, Visit>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): Visit => {
    const mine: Visit = { order: visits.size, low: visits.size, onStack: true };
    visits.set(file, mine);
    stack.push(file);
    for (const { to } of imports.get(file) ?? []) {
      const known = visits.get(to);
      if (!known) mine.low = Math.min(mine.low, visit(to).low);
      else if (known.onStack) mine.low = Math.min(mine.low, known.order);
    }
    if (mine.low === mine.order) circles.push(take(file));
    return mine;
  };
  const take = (first: string): string[] => {
    const files = stack.splice(stack.indexOf(first));
    for (const file of files) {
      const found = visits.get(file);
      if (found) found.onStack = false;
    }
    return files.toSorted();
  };
  for (const file of imports.keys()) if (!visits.has(file)) visit(file);
  const importsItself = (file: string | undefined): boolean =>
    ours.some(({ from, to }) => from === file && to === file);
  return circles.filter((files) => files.length > 1 || importsItself(files[0]));
};
