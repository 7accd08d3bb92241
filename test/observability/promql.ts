/** Prometheus' text format, and what its queries name, to hold rules against metrics. */
import { parser } from '@prometheus-io/lezer-promql';

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

export interface Names {
  /** Without the suffixes of histograms. */
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
  /** The values that labels of a metric must be equal to. */
  readonly wanted: readonly { metric: string; label: string; value: string }[];
}

/** What an expression names. Throws where it is none of the language. */
export const namesIn = (expr: string): Names => {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  const wanted: Names['wanted'][number][] = [];
  let metric = '';
  parser.parse(expr).iterate({
    enter: ({ name, type, from, to, node }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expr}`);
      if (name === 'VectorSelector') metric = '';
      if (name === 'Identifier') metrics.add((metric = text.replace(/_(?:bucket|sum|count)$/, '')));
      if (name === 'LabelName') labels.add(text);
      if (name === 'UnquotedLabelMatcher' && node.getChild('MatchOp')?.getChild('EqlSingle')) {
        const [, label = '', value = ''] = /^(\w+)\s*=\s*["'](.*)["']$/.exec(text) ?? [];
        wanted.push({ metric, label, value });
      }
    },
  });
  return { metrics: [...metrics], labels: [...labels], wanted };
};
