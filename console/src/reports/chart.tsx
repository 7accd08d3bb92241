/**
 * Bars over time, stacked by group, with values and moments at the axes. The pointer or the arrow
 * keys select a bar and show its numbers; the table next to it has the same data.
 */
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import type { TotalsData } from './use-totals.ts';
import { markedPlaces, roundMost } from './axes.ts';

const width = 960;
const height = 220;
const floor = 20;
const colours = 8;

type Part = TotalsData['parts'][number];

/** The groups of totals, in a fixed order, so that each keeps its colour. */
const groupsOf = ({ parts }: TotalsData): readonly string[] =>
  [...new Set(parts.flatMap(({ rows }) => rows.map(({ group }) => group ?? '')))].toSorted();

type HeightOf = (row: Part['rows'][number]) => number;

const sumIn = ({ rows }: Part, heightOf: HeightOf): number =>
  rows.reduce((sum, row) => sum + heightOf(row), 0);

interface ChartProps {
  readonly totals: TotalsData;
  readonly label: string;
  /** How to read it with the keyboard. */
  readonly hint: string;
  readonly nameOf: (group: string) => string;
  /** The beginning of a part: short at the axis, whole beside its numbers. */
  readonly momentOf: (from: string, isShort: boolean) => string;
  /** What is as high as its bar. */
  readonly heightOf: HeightOf;
  readonly numberOf: (value: number, isShort: boolean) => string;
}

/** The selected part: by the pointer, or by the arrow keys while the chart has the focus. */
const useLook = (parts: readonly Part[]) => {
  const [place, setPlace] = useState<number | null>(null);
  const last = parts.length - 1;
  const point = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>): void => {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    setPlace(Math.min(last, Math.max(0, Math.floor(((clientX - left) / wide) * parts.length))));
  };
  const press = (event: KeyboardEvent): void => {
    const now = place ?? last;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setPlace(Math.min(last, Math.max(0, next)));
  };
  return {
    place: place === null || place > last ? null : place,
    onPointerMove: point,
    onPointerLeave: () => setPlace(null),
    onFocus: () => setPlace((before) => before ?? last),
    onBlur: () => setPlace(null),
    onKeyDown: press,
  };
};

const Bars = ({
  totals,
  most,
  heightOf,
  place: looked,
}: {
  readonly totals: TotalsData;
  readonly heightOf: HeightOf;
  readonly most: number;
  readonly place: number | null;
}) => {
  const groups = groupsOf(totals);
  const step = width / Math.max(totals.parts.length, 1);
  const high = (value: number): number => (value / most) * (height - floor);
  return totals.parts.map(({ from, rows }, place) => {
    let top = height - 1;
    return (
      <g key={from}>
        {looked === place && (
          <rect className="looked" x={place * step} y={0} width={step} height={height} />
        )}
        {rows.map((row) => {
          const { group } = row;
          const tall = high(heightOf(row));
          top -= tall;
          return (
            <rect
              key={group}
              data-colour={groups.indexOf(group ?? '') % colours}
              x={place * step + step * 0.1}
              y={top}
              width={step * 0.8}
              height={tall}
            />
          );
        })}
      </g>
    );
  });
};

/** The selected part in words; announced when it changes. */
const Readout = ({
  part,
  momentOf,
  numberOf,
  heightOf,
  nameOf,
}: Omit<ChartProps, 'totals' | 'label' | 'hint'> & { readonly part: Part | undefined }) => (
  <p className="chart-readout" role="status">
    {part && (
      <>
        <strong>{momentOf(part.from, false)}</strong> {numberOf(sumIn(part, heightOf), false)}
        {part.rows.length > 1 &&
          part.rows.map((row) => (
            <span key={row.group}>
              {nameOf(row.group ?? '')} {numberOf(heightOf(row), false)}
            </span>
          ))}
      </>
    )}
  </p>
);

/** The chart. */
export const Chart = ({ totals, label, hint, ...words }: ChartProps) => {
  const { parts } = totals;
  const groups = groupsOf(totals);
  const most = roundMost(Math.max(1, ...parts.map((part) => sumIn(part, words.heightOf))));
  const { place, ...look } = useLook(parts);
  const levels = [most, most / 2, 0];
  return (
    <figure className="chart">
      <Readout part={place === null ? undefined : parts[place]} {...words} />
      <div className="chart-sheet">
        <div className="chart-levels" aria-hidden="true">
          {levels.map((level) => (
            <span key={level}>{words.numberOf(level, true)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          tabIndex={0}
          aria-label={`${label}. ${hint}`}
          {...look}
        >
          {levels.map((level) => {
            const y = height - 0.5 - (level / most) * (height - floor);
            return <line key={level} x1="0" y1={y} x2={width} y2={y} />;
          })}
          <Bars totals={totals} most={most} heightOf={words.heightOf} place={place} />
        </svg>
        <div className="chart-moments" aria-hidden="true">
          {markedPlaces(parts.length).map((marked) => (
            <span key={marked}>{words.momentOf(parts[marked]?.from ?? '', true)}</span>
          ))}
        </div>
      </div>
      {groups.length > 1 && (
        <figcaption>
          {groups.map((group, index) => (
            <span key={group} className="legend" data-colour={index % colours}>
              {words.nameOf(group)}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
};
