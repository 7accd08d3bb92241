/** One merchant: who it is, its money, its shops with their fees, keys and webhook endpoints. */
import { Link, useParams } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { actButton } from '../parts/act-form.tsx';
import { Empty, Failure, Waiting } from '../parts/states.tsx';
import { Status, Id, Moment, PageHead, Facts } from '../parts/texts.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { EraseAct } from '../erasure/dialog.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { peopleWords } from '../words/people.ts';
import { erasureWords } from '../words/customers.ts';
import { words } from '../words/words.ts';
import { MerchantSettings } from './merchant-settings.tsx';
import { AddEndpointDialog, EndpointLine, rotateAct } from '../webhooks/endpoint-acts.tsx';
import { IssueDialog, KeyActs, KeyName } from '../developers/key-dialogs.tsx';
import { ProfileCard } from './profile.tsx';
import { send, shownOnce } from '../parts/outcome.tsx';
import { policyWords } from '../words/policies.ts';
import { settingsWords as own, profileWords } from '../words/merchant-settings.ts';
import { useAddress } from '../address.ts';
import { percent, wholeNumber, money } from '../format.ts';
import { dayBefore, endOfHour, ownZone } from '../reports/spans.ts';
import { sumOf } from '../reports/use-totals.ts';

/* What a merchant has, turns over and pays. */

const volume_days = 30;
const again_ms = 30_000;

const MoneyCard = ({ merchantId }: { readonly merchantId: string }) => {
  const { mode } = useAddress();
  const { data, error } = useAsk(graph.Balance, { merchantId, mode }, { follow: {} });
  const asked = {
    merchantId,
    mode,
    of: 'payment',
    from: dayBefore(volume_days - 1),
    to: endOfHour(),
    timeZone: ownZone(),
  } as const;
  const follow = { events: false, every_ms: again_ms };
  const { data: volumes } = useAsk(graph.Totals, asked, { follow });
  if (error && !data) return <Failure error={error} />;
  const { currency = 'RUB' } = data?.balance ?? {};
  const rows = volumes?.totals.parts.flatMap((part) => part.rows);
  const count = sumOf(rows, 'count');
  const at = { merchant: merchantId };
  return (
    <section className="card">
      <h2>{profileWords.money(words.mode[mode])}</h2>
      <Facts
        facts={[
          [words.sections.balance, data && money(data.balance.balance, currency)],
          [profileWords.available, data && money(data.balance.available, currency)],
          [profileWords.turnover, rows && money(sumOf(rows, 'moved'), currency)],
          [profileWords.payments, rows && wholeNumber(count)],
          [profileWords.share, count > 0 ? percent(sumOf(rows, 'succeeded') / count, 1) : null],
          [profileWords.fees, rows && money(sumOf(rows, 'fee'), currency)],
        ]}
      />
      <div className="acts">
        <Link className="button" to="/balance" search={at}>
          {words.ledger.movements}
        </Link>
        <Link className="button" to="/reports" search={at}>
          {words.sections.reports}
        </Link>
        <Link className="button" to="/payments" search={at}>
          {words.merchants.seePayments}
        </Link>
      </div>
    </section>
  );
};

type OneMerchant = NonNullable<graph.MerchantQuery['merchant']>;
type Shop = OneMerchant['shops'][number];
type Row = Shop['effectiveRates'][number];

const FeesTable = ({ shop }: { readonly shop: Shop }) => {
  const columns: readonly Column<Row>[] = [
    { name: words.columns.method, cell: ({ method }) => policyWords.rated[method] },
    {
      name: words.payment.strip.fee,
      isNumber: true,
      cell: ({ rateBps }) => <span className="money">{percent(rateBps / 10_000, 2)}</span>,
    },
    {
      name: profileWords.from,
      isNamed: true,
      cell: ({ level, since }) =>
        since === null ? (
          <span className="quiet">{profileWords.noRate}</span>
        ) : (
          <span className="two">
            <span>{profileWords.levels[level]}</span>
            <span className="quiet">
              {Date.parse(since) <= 0 ? (
                profileWords.always
              ) : (
                <>
                  {profileWords.since} <Moment at={since} />
                </>
              )}
            </span>
          </span>
        ),
    },
  ];
  return (
    <>
      <h3>{profileWords.ratesOf}</h3>
      <Table
        label={`${profileWords.ratesOf}: ${shop.name}`}
        columns={columns}
        rows={shop.effectiveRates}
        keyOf={({ method }) => method}
      />
      <div className="acts">
        <Link
          className="button"
          to="/policies"
          search={{ merchant: shop.merchantId, tab: 'rates' }}
        >
          {policyWords.rateAdd}
        </Link>
      </div>
    </>
  );
};

interface OfShop {
  readonly shop: Shop;
}

const ShopSettings = ({ shop }: OfShop) => {
  const { id: shopId, merchantId, receiptsRequired: isRequired, name: initial } = shop;
  return (
    <>
      <h3>{words.sections.receipts}</h3>
      <p>{isRequired ? own.receiptsOn : own.receiptsOff}</p>
      <div className="acts">
        {actButton({
          permission: 'shopReceiptsRequire',
          title: isRequired ? own.receiptsLift : own.receiptsRequire,
          isAudited: true,
          consequence: isRequired ? own.receiptsLiftText : own.receiptsRequireText,
          act: () =>
            send(graph.RequireReceipts, { merchantId, shopId, required: !isRequired }, own.done),
        })}
      </div>
      <h3>{own.secret}</h3>
      <p>{own.secretText}</p>
      <div className="acts">
        {actButton({
          permission: 'shopWebhookSecretRotate',
          ...rotateAct(own.rotateShop, (overlapHours) =>
            send(graph.RotateShopSecret, { merchantId, shopId, overlapHours }, ({ secret }) =>
              shownOnce(secret),
            ),
          ),
        })}
        {actButton({
          permission: 'shopRename',
          title: own.renameShop,
          isAudited: true,
          consequence: own.renameText,
          fields: { name: { label: words.columns.name, hint: own.nameHint, initial } },
          act: ({ name }) => send(graph.RenameShop, { merchantId, shopId, name }, own.done),
        })}
      </div>
    </>
  );
};

const liveAct = ({ id: merchantId, name, liveEnabled }: OneMerchant) =>
  actButton({
    permission: liveEnabled ? 'merchantLiveDisable' : 'merchantLiveEnable',
    title: liveEnabled ? policyWords.liveOff : policyWords.liveOn,
    consequence: (liveEnabled ? policyWords.liveOffText : policyWords.liveOnText)(name),
    act: () =>
      send(liveEnabled ? graph.DisableLive : graph.EnableLive, { merchantId }, policyWords.done),
  });

const KeyRow = ({ apiKey }: { readonly apiKey: graph.KeyRowFragment }) => {
  const { lastUsedAt, status } = apiKey;
  return (
    <li className="line" data-over={status === 'revoked'}>
      <KeyName {...apiKey} />
      <span className="quiet">{words.mode[apiKey.mode]}</span>
      <span className="quiet">
        {lastUsedAt === null ? (
          words.merchants.neverUsed
        ) : (
          <>
            {words.merchants.used} <Moment at={lastUsedAt} />
          </>
        )}
      </span>
      <KeyActs apiKey={apiKey} />
    </li>
  );
};

const ShopCard = ({ shop, isLive }: OfShop & { readonly isLive: boolean }) => (
  <section className="card">
    <h2>{shop.name}</h2>
    <FeesTable shop={shop} />
    <h3>{words.merchants.keys}</h3>
    <ul className="lines">
      {shop.apiKeys.nodes.map((apiKey) => (
        <KeyRow key={apiKey.id} apiKey={apiKey} />
      ))}
      {shop.apiKeys.nodes.length === 0 && <li className="quiet">{words.merchants.noKeys}</li>}
    </ul>
    {actButton({
      permission: 'apiKeyIssue',
      title: words.merchants.issue,
      dialog: <IssueDialog shop={shop} isLive={isLive} />,
    })}
    <h3>{words.merchants.endpoints}</h3>
    <ul className="lines">
      {shop.webhookEndpoints.map((endpoint) => (
        <EndpointLine key={endpoint.id} endpoint={endpoint} />
      ))}
      {shop.webhookEndpoints.length === 0 && (
        <li className="quiet">{words.merchants.noEndpoints}</li>
      )}
    </ul>
    {actButton({
      permission: 'webhookEndpointCreate',
      title: words.merchants.addEndpoint,
      dialog: <AddEndpointDialog shops={[shop]} />,
    })}
    <ShopSettings shop={shop} />
  </section>
);

export const MerchantPage = () => {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const { data, error } = useAsk(graph.Merchant, { id });
  if (!data) return <Waiting error={error} />;
  const { merchant } = data;
  if (!merchant) return <Empty title={words.merchants.notFound} />;
  return (
    <>
      <PageHead name={merchant.name}>
        <Status tone={merchant.liveEnabled ? 'good' : 'over'}>
          {merchant.liveEnabled ? words.mode.live : words.merchants.notLive}
        </Status>
        <Id id={merchant.id} />
        {liveAct(merchant)}
        <Link className="button" to="/people" search={{ merchant: merchant.id }}>
          {peopleWords.title}
        </Link>
      </PageHead>
      <div className="cards">
        <ProfileCard merchant={merchant} />
        <MoneyCard merchantId={merchant.id} />
        <MerchantSettings merchant={merchant} />
        {merchant.shops.map((shop) => (
          <ShopCard key={shop.id} shop={shop} isLive={merchant.liveEnabled} />
        ))}
        <section className="card">
          <h2>{erasureWords.section}</h2>
          <p className="quiet">{erasureWords.sectionText}</p>
          <div className="acts">
            <EraseAct merchantId={merchant.id} subject="customer" id={null} />
          </div>
        </section>
      </div>
    </>
  );
};
