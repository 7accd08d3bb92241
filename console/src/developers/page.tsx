/** The developers' screen of a merchant, by shop. */
import { DeveloperShops } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Tabs, useTab } from '../parts/tabs.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { OfMerchant } from '../parts/whose.tsx';
import { TestPaymentButton } from '../selling/test-payment.tsx';
import { useDeveloperWords } from '../words/developers.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { ClockPart } from './clock.tsx';
import { EventsPart } from './events.tsx';
import { KeysPart } from './keys.tsx';
import { ReadinessPart } from './readiness.tsx';
import { RequestsPart } from './requests.tsx';
import { SecurityPart } from './security.tsx';

const tabs = ['keys', 'requests', 'events', 'security', 'clock', 'live'] as const;

const Guides = () => {
  const { docs, guides } = useDeveloperWords();
  return (
    <nav className="guides" aria-label={docs}>
      {guides.map(([address, name]) => (
        <a key={address} href={address} target="_blank" rel="noreferrer">
          {name}
        </a>
      ))}
    </nav>
  );
};

const Parts = ({ merchantId }: { readonly merchantId: string }) => {
  const shared = useSharedWords();
  const own = useDeveloperWords();
  const { search, set } = useAddress();
  const tab = useTab(tabs);
  const { data, error, again } = useAsk(DeveloperShops, { merchantId });
  if (!data) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  const { merchant } = data;
  const shop = merchant?.shops.find(({ id }) => id === search.shop) ?? merchant?.shops[0];
  if (!merchant || !shop) return <Empty title={shared.notFound} />;
  return (
    <>
      <div className="filter-row">
        <label className="inline-field">
          {shared.chooseShop}
          <select
            value={shop.id}
            onChange={(event) => set({ shop: event.target.value, after: undefined })}
          >
            {merchant.shops.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <Guides />
      </div>
      <Tabs label={shared.parts} tabs={tabs} names={own.tabs} />
      {tab === 'keys' && <KeysPart shop={shop} isLive={merchant.liveEnabled} again={again} />}
      {tab === 'security' && <SecurityPart key={shop.id} shop={shop} again={again} />}
      {tab === 'clock' && <ClockPart key={shop.id} shop={shop} />}
      {tab === 'requests' && <RequestsPart key={shop.id} shop={shop} />}
      {tab === 'live' && <ReadinessPart shop={shop} />}
      {tab === 'events' && <EventsPart shop={shop} />}
    </>
  );
};

/** The screen. */
export const DevelopersPage = () => {
  const words = useWords();
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.developers}</h1>
        <TestPaymentButton />
      </header>
      <OfMerchant>{(merchantId) => <Parts merchantId={merchantId} />}</OfMerchant>
    </>
  );
};
