/** The tabs of a screen, each with its own address. */
import { Link } from '@tanstack/react-router';
import { useAddress } from '../address.ts';
import { sharedWords } from '../words/shared.ts';

/** The tab in the address; the first when it names none of them. */
export const useTab = <Tab extends string>(tabs: readonly [Tab, ...Tab[]]): Tab => {
  const { tab } = useAddress().search;
  return tabs.find((one) => one === tab) ?? tabs[0];
};

export const Tabs = <Tab extends string>({
  tabs,
  names,
}: {
  readonly tabs: readonly [Tab, ...Tab[]];
  readonly names: Readonly<Record<Tab, string>>;
}) => {
  const here = useTab(tabs);
  return (
    <nav className="tabs" aria-label={sharedWords.parts}>
      {tabs.map((tab) => (
        <Link
          key={tab}
          to="."
          search={tab === tabs[0] ? {} : { tab }}
          activeOptions={{ exact: true }}
          aria-current={tab === here ? 'page' : undefined}
        >
          {names[tab]}
        </Link>
      ))}
    </nav>
  );
};
