/** What a process of the service is, as its command line names it. */
import { subgraphNames, type SubgraphName } from '../../../schema/sources.ts';

/** What a process can be. `subgraph` is followed by its name. */
export const roleNames = [
  'all',
  'gateway',
  'rest-facade',
  'checkout',
  'subgraph',
  'worker',
  'migrate',
] as const;

/** Reads the command line; null when it names something that is no role. */
export const readRoles = (words: readonly string[]) => {
  const subgraphs = new Set<SubgraphName>();
  const others = new Set<string>();
  const left = words.length === 0 ? ['all'] : [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const role = roleNames.find((known) => known === word);
    if (!role) return null;
    if (role !== 'subgraph') {
      others.add(role);
      continue;
    }
    const named = left.shift();
    const name = subgraphNames.find((known) => known === named);
    if (!name) return null;
    subgraphs.add(name);
  }
  const all = others.has('all');
  const has = (role: string): boolean => all || others.has(role);
  const edge = new Set((['gateway', 'rest-facade', 'checkout'] as const).filter(has));
  return {
    all,
    edge,
    subgraphs: all ? subgraphNames : [...subgraphs],
    worker: has('worker'),
    migrate: has('migrate'),
  };
};
export type Roles = Readonly<NonNullable<ReturnType<typeof readRoles>>>;
