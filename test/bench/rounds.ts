/**
 * Interleaved rounds: every subject is measured in each round, in alternating order, so that what
 * else the machine does falls on all alike.
 */

/** What one round measured of one subject. */
export interface Sample {
  readonly perSecond: number;
  readonly p50_us: number;
  /** CPU time per request of the process that answers; null where it cannot be known. */
  readonly server_us: number | null;
  /** CPU time per request of PostgreSQL; null without one, or where it cannot be known. */
  readonly postgres_us: number | null;
}

/** How a subject is loaded in one round. */
export interface RoundLoad {
  readonly connections: number;
  readonly duration_ms: number;
  /** Ends it earlier; without one only time does. */
  readonly requests_max?: number;
}

export interface Subject {
  readonly name: string;
  measure(load: RoundLoad): Promise<Sample>;
}

export interface Rounds extends RoundLoad {
  readonly rounds: number;
  /**
   * Load before the first round that does not count: programs are compiled as they run. Null: none.
   */
  readonly warmUp: Required<Omit<RoundLoad, 'connections'>> | null;
}

export type Samples = ReadonlyMap<Subject, readonly Sample[]>;

/** Measures the subjects. `progress` is called before each round. */
export const measureInRounds = async (
  subjects: readonly Subject[],
  plan: Rounds,
  progress: (text: string) => void,
): Promise<Samples> => {
  const samples = new Map<Subject, Sample[]>(subjects.map((subject) => [subject, []]));
  const { connections, duration_ms, warmUp } = plan;
  for (const subject of warmUp ? subjects : []) {
    progress(`warming up ${subject.name}`);
    await subject.measure({ connections, duration_ms, ...warmUp });
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    progress(
      `round ${round + 1} of ${plan.rounds}, ${connections} connection${connections === 1 ? '' : 's'}`,
    );
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed())
      samples.get(subject)?.push(await subject.measure({ connections, duration_ms }));
  }
  return samples;
};

/** The middle value; NaN of nothing. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ];
  return (low + high) / 2;
};

/** The median over the rounds of one figure; null when a round did not know it. */
export const medianOf = (
  samples: readonly Sample[],
  figure: (sample: Sample) => number | null,
): number | null => {
  const known = samples.map(figure).filter((value) => value !== null);
  return known.length === samples.length && known.length > 0 ? median(known) : null;
};

/** The median of the rounds' own ratios: what disturbed a whole round has disturbed both. */
export const medianRatio = (
  above: readonly Sample[],
  below: readonly Sample[],
  figure: (sample: Sample) => number | null,
): number | null => {
  const ratios = above.map((sample, round) => {
    const [over, under] = [figure(sample), below[round] ? figure(below[round]) : null];
    // A round in which nothing was answered says nothing.
    return over === null || under === null || !Number.isFinite(over / under) ? null : over / under;
  });
  const known = ratios.filter((ratio) => ratio !== null);
  return known.length === ratios.length && known.length > 0 ? median(known) : null;
};
