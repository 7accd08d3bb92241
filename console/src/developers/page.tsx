/** The developers' screen of a merchant, by shop. */
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress, type Search } from '../address.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { OfMerchant } from '../parts/whose.tsx';
import { TestPaymentButton } from '../selling/test-payment.tsx';
import { developerWords, readinessWords as own } from '../words/developers.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { ClockPart } from './clock.tsx';
import { EventsPart } from './events.tsx';
import { KeysPart, type DeveloperShop } from './keys.tsx';
import { RequestsPart } from './requests.tsx';
import { SecurityPart } from './security.tsx';
import { Status, PageHead } from '../parts/texts.tsx';

interface Need {
  readonly says: { readonly name: string; readonly hint: string };
  readonly isMet: boolean;
  /** Where it is seen to. */
  readonly to: '/developers' | '/webhooks' | '/policies' | '/merchants/$id' | '/payments';
  readonly search?: Search;
  /** Whether live mode works without it. */
  readonly isAdvice?: boolean;
  readonly detail?: string;
}

const need = (
  says: Need['says'],
  isMet: boolean,
  to: Need['to'],
  more: Partial<Need> = {},
): Need => ({ says, isMet, to, ...more });

type Answer = graph.ReadinessQuery & {
  readonly merchant: NonNullable<graph.ReadinessQuery['merchant']>;
};

const needsOf = (
  { merchant, bankRoutes, succeeded, failed, refunds, webhookDeliveries }: Answer,
  shopId: string,
  methodName: (method: string) => string,
): readonly Need[] => {
  const shop = merchant.shops.find(({ id }) => id === shopId);
  const served = bankRoutes.nodes.filter(
    ({ operation, active }) => operation === 'payment' && active,
  );
  const methods = [...new Set(served.map(({ method }) => methodName(method)))].join(', ');
  const keys = shop?.apiKeys.nodes ?? [];
  const hasKey = keys.some(({ mode, status }) => mode === 'live' && status === 'active');
  const hasEndpoint = shop?.webhookEndpoints.some(({ active }) => active) ?? false;
  const isProtected = shop !== undefined && (shop.requireSignature || shop.allowList.length > 0);
  const inTest = { search: { mode: 'test' } } as const;
  const security = { isAdvice: true, search: { tab: 'security' } } as const;
  return [
    need(own.live, merchant.liveEnabled, '/merchants/$id'),
    need(own.routes, served.length > 0, '/policies', { detail: methods && own.by(methods) }),
    need(own.key, hasKey, '/developers'),
    need(own.endpoint, hasEndpoint, '/webhooks'),
    need(own.delivered, webhookDeliveries.nodes.length > 0, '/webhooks'),
    need(own.succeeded, succeeded.nodes.length > 0, '/payments', inTest),
    need(own.failed, failed.nodes.length > 0, '/payments', inTest),
    need(own.refunded, refunds.nodes.length > 0, '/payments', inTest),
    need(own.receipts, shop?.receiptsRequired ?? false, '/merchants/$id', { isAdvice: true }),
    need(own.protected, isProtected, '/developers', security),
  ];
};

const NeedLine = ({
  need: { says, isMet, to, search: there, isAdvice = false, detail = '' },
  merchantId,
  shopId,
}: {
  readonly need: Need;
  readonly merchantId: string;
  readonly shopId: string;
}) => {
  const state = isMet ? 'done' : isAdvice ? 'advised' : 'missing';
  const tone = { done: 'good', advised: 'waiting', missing: 'bad' } as const;
  const text = isMet ? detail : says.hint;
  return (
    <li>
      <span className="stack">
        {says.name}
        {text !== '' && <span className="quiet wrap">{text}</span>}
      </span>
      <Status tone={tone[state]}>{own.states[state]}</Status>
      <div className="acts">
        {!isMet && (
          <Link
            className="button"
            to={to}
            params={{ id: merchantId }}
            search={{ shop: shopId, ...there }}
          >
            {own.go}
          </Link>
        )}
      </div>
    </li>
  );
};

const ReadinessPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const { merchantId, id: shopId } = shop;
  const follow = { lists: ['webhook_deliveries'], events: true } as const;
  const { data, error } = useAsk(graph.Readiness, { merchantId, shopId }, { follow });
  if (!data) return <Waiting error={error} />;
  const { merchant } = data;
  if (!merchant) return <Empty title={sharedWords.notFound} />;
  const names: Readonly<Record<string, string>> = words.payment.methods;
  const needs = needsOf({ ...data, merchant }, shopId, (method) => names[method] ?? method);
  const missing = needs.filter(({ isMet, isAdvice }) => !isMet && isAdvice !== true).length;
  return (
    <>
      <p>
        <strong>{missing === 0 ? own.ready : own.missing(missing)}</strong>
      </p>
      <ol className="needed" aria-label={own.list}>
        {needs.map((one) => (
          <NeedLine key={one.says.name} need={one} merchantId={merchantId} shopId={shopId} />
        ))}
      </ol>
    </>
  );
};

const Guides = () => (
  <nav className="guides" aria-label={developerWords.docs}>
    {developerWords.guides.map(([address, name]) => (
      <a key={address} href={address} target="_blank" rel="noreferrer">
        {name}
      </a>
    ))}
  </nav>
);

const Parts = ({ merchantId }: { readonly merchantId: string }) => {
  const { search, set } = useAddress();
  const { data, error } = useAsk(graph.DeveloperShops, { merchantId });
  if (!data) return <Waiting error={error} />;
  const { merchant } = data;
  const shop = merchant?.shops.find(({ id }) => id === search.shop) ?? merchant?.shops[0];
  if (!merchant || !shop) return <Empty title={sharedWords.notFound} />;
  return (
    <>
      <div className="filter-row">
        <PickField
          isInline
          label={words.columns.shop}
          value={shop.id}
          set={(id) => set({ shop: id })}
          options={merchant.shops.map(({ id, name }) => [id, name])}
        />
        <Guides />
      </div>
      <Tabs
        names={developerWords.tabs}
        parts={{
          keys: <KeysPart shop={shop} isLive={merchant.liveEnabled} />,
          security: <SecurityPart key={shop.id} shop={shop} />,
          clock: <ClockPart key={shop.id} shop={shop} />,
          requests: <RequestsPart key={shop.id} shop={shop} />,
          live: <ReadinessPart shop={shop} />,
          events: <EventsPart shop={shop} />,
        }}
      />
    </>
  );
};

export const DevelopersPage = () => (
  <>
    <PageHead name={words.sections.developers}>
      <TestPaymentButton />
    </PageHead>
    <OfMerchant>{(merchantId) => <Parts merchantId={merchantId} />}</OfMerchant>
  </>
);
