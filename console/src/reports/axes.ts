/** What stands at the axes of a chart. */

/** The least round even number that is not below a count, so that its half is whole, too. */
export const roundMost = (count: number): number => {
  const power = 10 ** Math.max(0, Math.ceil(Math.log10(Math.max(count, 1))) - 1);
  const step = [2, 4, 6, 8, 10].find((one) => one * power >= count) ?? 10;
  return step * power;
};

/** Places of the first, the middle and the last of so many parts, each once. */
export const markedPlaces = (parts: number): readonly number[] => {
  const places = [0, Math.floor((parts - 1) / 2), parts - 1];
  return parts === 0 ? [] : [...new Set(places)];
};
