/** Named facts; unknown ones are left out. */
import type { ReactNode } from 'react';

export type Fact = readonly [name: string, value: ReactNode];

const isKnown = ([, value]: Fact): boolean => value !== null && value !== '';

/** The list. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.filter(isKnown).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
