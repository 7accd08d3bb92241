/** The tabs of a screen, each with its own address. */
import { Link } from '@tanstack/react-router';
import { useAddress } from '../address.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';

type Names<Tab extends string> = { readonly [Of in Tab]?: string };

/** The tab in the address; the first when it names none of them. */
export const useTab = <Tab extends string>(names: Names<Tab>): Tab => {
  const { tab } = useAddress().search;
  const tabs = keysOf(names);
  return tabs.find((one) => one === tab) ?? tabs[0];
};

export const Tabs = <Tab extends string>({ names }: { readonly names: Names<Tab> }) => {
  const here = useTab(names);
  return (
    <nav className="tabs" aria-label={sharedWords.parts}>
      {keysOf(names).map((tab, place) => (
        <Link
          key={tab}
          to="."
          search={place === 0 ? {} : { tab }}
          activeOptions={{ exact: true }}
          aria-current={tab === here ? 'page' : undefined}
        >
          {names[tab]}
        </Link>
      ))}
    </nav>
  );
};
