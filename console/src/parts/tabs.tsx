/** The tabs of a screen, each with its own address. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';

type Names<Tab extends string> = { readonly [Of in Tab]?: string };

/** The tabs, and below them the part of the one in the address; of the first where it names none. */
export const Tabs = <Tab extends string>({
  names,
  parts,
}: {
  readonly names: Names<Tab>;
  readonly parts: Readonly<Record<Tab, ReactNode>>;
}) => {
  const { tab } = useAddress().search;
  const tabs = keysOf(names);
  const here = tabs.find((one) => one === tab) ?? tabs[0];
  return (
    <>
      <nav className="tabs" aria-label={sharedWords.parts}>
        {tabs.map((one, place) => (
          <Link
            key={one}
            to="."
            search={place === 0 ? {} : { tab: one }}
            activeOptions={{ exact: true }}
            aria-current={one === here ? 'page' : undefined}
          >
            {names[one]}
          </Link>
        ))}
      </nav>
      {parts[here]}
    </>
  );
};
