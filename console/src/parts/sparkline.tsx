/** A sparkline next to its numbers. */
const width = 120;
const height = 28;

/** The line: it repeats numbers on the page, so it is hidden from screen readers. */
export const Sparkline = ({ values }: { readonly values: readonly number[] }) => {
  const most = Math.max(...values, 1);
  const points = values.map(
    (value, place) =>
      `${((place / Math.max(values.length - 1, 1)) * width).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
};
