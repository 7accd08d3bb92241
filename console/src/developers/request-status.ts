/** The HTTP statuses of the request log. */
import type { Tone } from '../parts/status.tsx';

export const statusGroups = ['2xx', '4xx', '5xx'] as const;

const groupSize = 100;

/** The statuses that a text names: a group, such as `4xx`, or one; null for all. */
export const statusesIn = (text: string | undefined): number[] | null => {
  if (text === undefined) return null;
  if (/^\d{3}$/.test(text)) return [Number(text)];
  const first = Number(text[0]) * groupSize;
  return statusGroups.some((group) => group === text)
    ? Array.from({ length: groupSize }, (_, index) => first + index)
    : null;
};

/** What a status means. */
export const toneOf = (status: number): Tone => (status < 300 ? 'good' : 'bad');
