/**
 * Rounds by turns: each side is measured in each round, in alternating order, so that what else the
 * machine does falls on both alike.
 */

/** What one round measured of one side. */
export interface Sample {
  readonly perSecond: number;
  readonly p50_us: number;
}

/** One side of a comparison: gives what `duration_ms` of its work took. */
export type Measure = (duration_ms: number) => Promise<Sample>;

/** A line of the table. */
export interface Row {
  readonly what: string;
  /** More is better: the service's throughput over the baseline's, or the baseline's time over its. */
  readonly ratio: number;
  readonly service: string;
  readonly bare: string;
}

/** The value that this share of the values does not exceed; NaN of nothing. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const inMilliseconds = (time_us: number): string => `${(time_us / 1_000).toFixed(1)} ms`;

const describe = (samples: readonly Sample[]): string =>
  `${median(samples.map(({ perSecond }) => perSecond)).toFixed(0)}/s, half within ${inMilliseconds(median(samples.map(({ p50_us }) => p50_us)))}`;

export interface Rounds {
  readonly rounds: number;
  readonly duration_ms: number;
  readonly warmUp_ms: number;
}

/** Measures the service and the baseline by turns. The ratio is the median of the rounds' own. */
export const compare = async (
  what: string,
  sides: { readonly service: Measure; readonly bare: Measure },
  { rounds, duration_ms, warmUp_ms }: Rounds,
): Promise<Row> => {
  const samples = { service: new Array<Sample>(), bare: new Array<Sample>() };
  const names = ['service', 'bare'] as const;
  for (const name of names) await sides[name](warmUp_ms);
  for (let round = 0; round < rounds; round += 1)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      samples[name].push(await sides[name](duration_ms));
  const ratios = samples.service.map(
    ({ perSecond }, round) => perSecond / (samples.bare[round]?.perSecond ?? Number.NaN),
  );
  return {
    what,
    ratio: median(ratios),
    service: describe(samples.service),
    bare: describe(samples.bare),
  };
};
