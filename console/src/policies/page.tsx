/** The operator's policies: routes, accounts, rates, block lists and exchange rates. */
import { Tabs, useTab } from '../parts/tabs.tsx';
import { OfMerchant } from '../parts/whose.tsx';
import { usePermission } from '../viewer.tsx';
import { usePolicyWords } from '../words/policies.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { AccountsPart } from './accounts.tsx';
import { BlocksPart } from './blocks.tsx';
import { ExchangePart } from './exchange.tsx';
import { ForbiddenPart } from './forbidden.tsx';
import { RatesPart } from './rates.tsx';
import { RoutesPart } from './routes.tsx';

const tabs = ['routes', 'accounts', 'rates', 'blocks', 'words', 'exchange'] as const;

type Tab = (typeof tabs)[number];
const tabsOfMerchant = ['routes', 'accounts', 'rates', 'blocks', 'exchange'] as const;

/** The screen. */
export const PoliciesPage = () => {
  const words = useWords();
  const shared = useSharedWords();
  const { tabs: names } = usePolicyWords();
  const mayReadWords = usePermission('forbiddenPurposes').granted;
  // A merchant's people do not see the policies for all merchants.
  const shown = mayReadWords ? tabs : tabsOfMerchant;
  const tab = useTab<Tab>(shown);
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.policies}</h1>
      </header>
      <Tabs label={shared.parts} tabs={shown} names={names} />
      {tab === 'routes' && (
        <OfMerchant>{(merchantId) => <RoutesPart merchantId={merchantId} />}</OfMerchant>
      )}
      {tab === 'accounts' && (
        <OfMerchant>{(merchantId) => <AccountsPart merchantId={merchantId} />}</OfMerchant>
      )}
      {tab === 'rates' && <RatesPart />}
      {tab === 'blocks' && <BlocksPart />}
      {tab === 'words' && <ForbiddenPart />}
      {tab === 'exchange' && <ExchangePart />}
    </>
  );
};
