/** One merchant: who it is, its money, its shops with their fees, keys and webhook endpoints. */
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Merchant, type MerchantQuery } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { EraseAct } from '../erasure/dialog.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission } from '../viewer.tsx';
import { usePeopleWords } from '../words/people.ts';
import { useErasureWords } from '../words/erasure.ts';
import { useWords } from '../words/words.ts';
import { LiveSwitch } from './live-switch.tsx';
import { MerchantSettings } from './merchant-settings.tsx';
import { ShopSettings } from './shop-settings.tsx';
import { AddEndpointDialog, EndpointLine } from '../webhooks/endpoint-acts.tsx';
import { IssueDialog } from '../developers/issue-key.tsx';
import { FeesTable, MoneyCard } from './money.tsx';
import { ProfileCard } from './profile.tsx';
import { KeyActs } from './key-dialogs.tsx';

type Shop = NonNullable<MerchantQuery['merchant']>['shops'][number];
type ApiKey = Shop['apiKeys']['nodes'][number];

const KeyRow = ({
  apiKey,
  merchantId,
  again,
}: {
  readonly apiKey: ApiKey;
  readonly merchantId: string;
  readonly again: () => void;
}) => {
  const { merchants, mode } = useWords();
  const { prefix, name, lastUsedAt, status } = apiKey;
  return (
    <li className="line" data-over={status === 'revoked'}>
      <span className="stack">
        {name}
        <code>{prefix}…</code>
      </span>
      <span className="quiet">{mode[apiKey.mode]}</span>
      <span className="quiet">
        {lastUsedAt === null ? (
          merchants.neverUsed
        ) : (
          <>
            {merchants.used} <Moment at={lastUsedAt} />
          </>
        )}
      </span>
      <KeyActs apiKey={{ ...apiKey, merchantId }} again={again} />
    </li>
  );
};

const ShopCard = ({
  shop,
  isLive,
  again,
}: {
  readonly shop: Shop;
  readonly isLive: boolean;
  readonly again: () => void;
}) => {
  const { merchants } = useWords();
  const [open, setOpen] = useState<'issue' | 'endpoint' | null>(null);
  const issue = usePermission('apiKeyIssue');
  const addEndpoint = usePermission('webhookEndpointCreate');
  const close = (): void => {
    setOpen(null);
    again();
  };
  return (
    <section className="card">
      <h2>{shop.name}</h2>
      <FeesTable shop={shop} />
      <h3>{merchants.keys}</h3>
      <ul className="lines">
        {shop.apiKeys.nodes.map((apiKey) => (
          <KeyRow key={apiKey.id} apiKey={apiKey} merchantId={shop.merchantId} again={again} />
        ))}
        {shop.apiKeys.nodes.length === 0 && <li className="quiet">{merchants.noKeys}</li>}
      </ul>
      <ActButton permission={issue} onPress={() => setOpen('issue')}>
        {merchants.issue}
      </ActButton>
      <h3>{merchants.endpoints}</h3>
      <ul className="lines">
        {shop.webhookEndpoints.map((endpoint) => (
          <EndpointLine
            key={endpoint.id}
            merchantId={shop.merchantId}
            endpoint={endpoint}
            again={again}
          />
        ))}
        {shop.webhookEndpoints.length === 0 && <li className="quiet">{merchants.noEndpoints}</li>}
      </ul>
      <ActButton permission={addEndpoint} onPress={() => setOpen('endpoint')}>
        {merchants.addEndpoint}
      </ActButton>
      <ShopSettings shop={shop} again={again} />
      {open === 'issue' && <IssueDialog shop={shop} isLive={isLive} close={close} />}
      {open === 'endpoint' && <AddEndpointDialog shops={[shop]} close={close} />}
    </section>
  );
};

/** The screen. */
export const MerchantPage = () => {
  const words = useWords();
  const erasure = useErasureWords();
  const people = usePeopleWords();
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const { data, error, again } = useAsk(Merchant, { id });
  if (error && !data) return <Failure error={error} again={again} />;
  if (!data) return <Skeleton />;
  const { merchant } = data;
  if (!merchant) return <Empty title={words.merchants.notFound} />;
  return (
    <>
      <header className="page-head">
        <h1>{merchant.name}</h1>
        <Status tone={merchant.liveEnabled ? 'good' : 'over'}>
          {merchant.liveEnabled ? words.merchants.live : words.merchants.notLive}
        </Status>
        <Id id={merchant.id} />
        <LiveSwitch merchant={merchant} again={again} />
        <Link className="button" to="/people" search={{ merchant: merchant.id }}>
          {people.title}
        </Link>
      </header>
      <div className="cards">
        <ProfileCard merchant={merchant} again={again} />
        <MoneyCard merchantId={merchant.id} />
        <MerchantSettings merchant={merchant} again={again} />
        {merchant.shops.map((shop) => (
          <ShopCard key={shop.id} shop={shop} isLive={merchant.liveEnabled} again={again} />
        ))}
        <section className="card">
          <h2>{erasure.section}</h2>
          <p className="quiet">{erasure.sectionText}</p>
          <div className="acts">
            <EraseAct merchantId={merchant.id} subject="customer" id={null} />
          </div>
        </section>
      </div>
    </>
  );
};
