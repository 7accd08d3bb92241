/**
 * What the edge costs: the CPU time that key, allow-list, signature, limits, checks and headers add
 * to a request, against the same operation without them.
 */
import type { Row } from '../report.ts';
import { median, type Sample, type Samples, type Subject } from '../rounds.ts';

/** Issue: added CPU per request, at most. */
const aim_us = 60;

const known = (samples: readonly Sample[]): readonly number[] =>
  samples.map(({ server_us }) => server_us).filter((cpu_us) => cpu_us !== null);

/**
 * The row of `edge` over `without`, measured in the same rounds; none where CPU time cannot be
 * known.
 */
export const edgeRows = (
  what: string,
  edge: Subject,
  without: Subject,
  samples: Samples,
): readonly Row[] => {
  const [above, below] = [known(samples.get(edge) ?? []), known(samples.get(without) ?? [])];
  if (above.length === 0 || above.length !== below.length) return [];
  // Round by round: what disturbed a whole round has disturbed both.
  const added_us = median(above.map((cpu_us, round) => cpu_us - (below[round] ?? Number.NaN)));
  return [
    {
      what: `${what}, CPU added by the whole edge (${aim_us} us over it)`,
      against: without.name,
      ratio: aim_us / Math.max(added_us, 1),
      aim: { least: 1 },
      rounds: above.length,
      figures: `${added_us.toFixed(0)} us added: ${median(above).toFixed(0)} us to ${median(below).toFixed(0)} us`,
    },
  ];
};
