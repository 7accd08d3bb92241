/** Subscriptions, and the methods that buyers have saved. */
import { Tabs, useTab } from '../parts/tabs.tsx';
import { OfMerchant } from '../parts/merchant-choice.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useSubscriptionWords } from '../words/subscriptions.ts';
import { useWords } from '../words/words.ts';
import { SubscriptionList } from './list.tsx';
import { TokenList } from './tokens.tsx';

const tabs = ['subscriptions', 'tokens'] as const;

/** The screen. */
export const SubscriptionsPage = () => {
  const words = useWords();
  const shared = useSharedWords();
  const { tabs: names } = useSubscriptionWords();
  const tab = useTab(tabs);
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.subscriptions}</h1>
      </header>
      <Tabs label={shared.parts} tabs={tabs} names={names} />
      {tab === 'subscriptions' ? (
        <SubscriptionList />
      ) : (
        <OfMerchant>{(merchantId) => <TokenList merchantId={merchantId} />}</OfMerchant>
      )}
    </>
  );
};
