/**
 * Just enough of Prometheus' text format and of its query language to hold rules against metrics.
 */

export interface Exposed {
  /** counter, gauge, histogram or summary. */
  readonly kind: string;
  readonly labels: readonly string[];
  /** Label to the values that were seen. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The metrics of a scrape, by their names without the suffixes of histograms. */
export const readExposition = (text: string): ReadonlyMap<string, Exposed> => {
  const kinds = new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', kind = '']) => [name, kind]),
  );
  const seen = new Map([...kinds.keys()].map((name) => [name, new Map<string, Set<string>>()]));
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const values = seen.get(baseOf(sample, kinds));
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      const known = values?.get(label) ?? new Set();
      values?.set(label, known.add(value));
    }
  }
  return new Map(
    [...kinds].map(([name, kind]) => [
      name,
      { kind, labels: [...(seen.get(name)?.keys() ?? [])], values: seen.get(name) ?? new Map() },
    ]),
  );
};

const baseOf = (sample: string, kinds: ReadonlyMap<string, string>): string =>
  kinds.has(sample) ? sample : sample.replace(/_(?:bucket|sum|count)$/, '');

/** What of an expression is the language's own. */
const words = new Set([
  'sum',
  'max',
  'min',
  'by',
  'rate',
  'increase',
  'time',
  'absent',
  'or',
  'and',
  'histogram_quantile',
  'min_over_time',
  'max_over_time',
]);

/** The metrics (without the suffixes of histograms) and the labels that an expression names. */
export const namesIn = (
  expr: string,
): { readonly metrics: readonly string[]; readonly labels: readonly string[] } => {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const selected = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  );
  const bare = expr
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\bby \([^)]*\)/g, 'by');
  const named = [...bare.matchAll(/(?<![\w.])[a-z_]\w*/g)]
    .map(([name]) => name)
    .filter((name) => !words.has(name));
  return {
    metrics: [...new Set(named.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))],
    labels: [...new Set([...grouped, ...selected])],
  };
};
