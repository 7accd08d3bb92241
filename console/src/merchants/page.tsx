/** One merchant: who it is, its money, its shops with their fees, keys and webhook endpoints. */
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import {
  ActButton,
  ActForm,
  DialogAct,
  PolicyForm,
  useDialogs,
  useOpened,
  type Again,
  type Closable,
} from '../parts/act-form.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status, Id, Moment, PageHead, Facts } from '../parts/texts.tsx';
import { Skeleton, Table, type Column } from '../parts/table.tsx';
import { EraseAct } from '../erasure/dialog.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePeopleWords } from '../words/people.ts';
import { useErasureWords } from '../words/customers.ts';
import { useWords } from '../words/words.ts';
import { MerchantSettings } from './merchant-settings.tsx';
import { AddEndpointDialog, EndpointLine, RotateDialog } from '../webhooks/endpoint-acts.tsx';
import { IssueDialog, KeyActs } from '../developers/key-dialogs.tsx';
import { ProfileCard } from './profile.tsx';
import { useSend } from '../parts/outcome.tsx';
import { usePolicyWords } from '../words/policies.ts';
import { TextField } from '../parts/fields.tsx';
import { useSettingsWords, useProfileWords } from '../words/merchant-settings.ts';
import { kept, useAddress } from '../address.ts';
import { money } from '../amounts.ts';
import { percent, wholeNumber } from '../format.ts';
import { useFollow } from '../parts/use-follow.ts';
import { dayBefore, endOfHour, ownZone } from '../reports/spans.ts';
import { sumOf } from '../reports/use-totals.ts';

/* What a merchant has, turns over and pays. */

const volume_days = 30;
const again_ms = 30_000;

const MoneyCard = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWords();
  const own = useProfileWords();
  const { search, mode } = useAddress();
  const { data, error, again } = useAsk(graph.Balance, { merchantId, mode });
  const { data: volumes, again: recount } = useAsk(graph.Totals, {
    merchantId,
    mode,
    of: 'payment',
    from: dayBefore(volume_days - 1),
    to: endOfHour(),
    timeZone: ownZone(),
  });
  useFollow(again);
  useFollow(recount, { events: false, every_ms: again_ms });
  if (error && !data) return <Failure error={error} again={again} />;
  const { locale } = words;
  const { currency = 'RUB' } = data?.balance ?? {};
  const rows = volumes?.totals.parts.flatMap((part) => part.rows);
  const count = sumOf(rows, 'count');
  const at = { ...kept(search), merchant: merchantId };
  return (
    <section className="card">
      <h2>{own.money(words.mode[mode])}</h2>
      <Facts
        facts={[
          [words.sections.balance, data && money(data.balance.balance, currency, locale)],
          [own.available, data && money(data.balance.available, currency, locale)],
          [own.turnover, rows && money(sumOf(rows, 'moved'), currency, locale)],
          [own.payments, rows && wholeNumber(count, locale)],
          [own.share, count > 0 ? percent(sumOf(rows, 'succeeded') / count, locale, 1) : null],
          [own.fees, rows && money(sumOf(rows, 'fee'), currency, locale)],
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
  const words = useWords();
  const own = useProfileWords();
  const { rated } = usePolicyWords();
  const columns: readonly Column<Row>[] = [
    { name: words.columns.method, cell: ({ method }) => rated[method] },
    {
      name: words.payment.strip.fee,
      isNumber: true,
      cell: ({ rateBps }) => (
        <span className="money">{percent(rateBps / 10_000, words.locale, 2)}</span>
      ),
    },
    {
      name: own.from,
      isNamed: true,
      cell: ({ level, since }) =>
        since === null ? (
          <span className="quiet">{own.noRate}</span>
        ) : (
          <span className="two">
            <span>{own.levels[level]}</span>
            <span className="quiet">
              {Date.parse(since) <= 0 ? (
                own.always
              ) : (
                <>
                  {own.since} <Moment at={since} />
                </>
              )}
            </span>
          </span>
        ),
    },
  ];
  return (
    <>
      <h3>{own.ratesOf}</h3>
      <Table
        label={`${own.ratesOf}: ${shop.name}`}
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
          {own.setRate}
        </Link>
      </div>
    </>
  );
};

interface OfShop {
  readonly shop: Shop;
}
type DialogProps = OfShop & Closable;

const RenameDialog = ({ shop: { id: shopId, merchantId, name }, close }: DialogProps) => {
  const { columns } = useWords();
  const own = useSettingsWords();
  const [text, setText] = useState(name);
  const save = useSend(graph.RenameShop);
  return (
    <PolicyForm
      title={own.renameShop}
      consequence={own.renameText}
      isReady={text.trim() !== ''}
      close={close}
      act={() => save({ merchantId, shopId, name: text.trim() }, own.done)}
    >
      <TextField label={columns.name} value={text} set={setText} hint={own.nameHint} />
    </PolicyForm>
  );
};

const ReceiptsDialog = ({ shop, close }: DialogProps) => {
  const own = useSettingsWords();
  const save = useSend(graph.RequireReceipts);
  const { id: shopId, merchantId, receiptsRequired } = shop;
  return (
    <PolicyForm
      title={receiptsRequired ? own.receiptsLift : own.receiptsRequire}
      consequence={receiptsRequired ? own.receiptsLiftText : own.receiptsRequireText}
      close={close}
      act={() => save({ merchantId, shopId, required: !receiptsRequired }, own.done)}
    />
  );
};

const SecretDialog = ({ shop: { id: shopId, merchantId }, close }: DialogProps) => {
  const own = useSettingsWords();
  const rotate = useSend(graph.RotateShopSecret);
  return (
    <RotateDialog
      of={own.rotateShop}
      close={close}
      rotate={(overlapHours, show) => rotate({ merchantId, shopId, overlapHours }, show)}
    />
  );
};

const dialogs = { rename: RenameDialog, receipts: ReceiptsDialog, secret: SecretDialog } as const;

const ShopSettings = ({ shop, again }: OfShop & Again) => {
  const { sections } = useWords();
  const own = useSettingsWords();
  const { press, dialog } = useDialogs(dialogs, { shop }, again);
  return (
    <>
      <h3>{sections.receipts}</h3>
      <p>{shop.receiptsRequired ? own.receiptsOn : own.receiptsOff}</p>
      <div className="acts">
        <ActButton permission="shopReceiptsRequire" onPress={press('receipts')}>
          {shop.receiptsRequired ? own.receiptsLift : own.receiptsRequire}
        </ActButton>
      </div>
      <h3>{own.secret}</h3>
      <p>{own.secretText}</p>
      <div className="acts">
        <ActButton permission="shopWebhookSecretRotate" onPress={press('secret')}>
          {own.rotate}
        </ActButton>
        <ActButton permission="shopRename" onPress={press('rename')}>
          {own.renameShop}
        </ActButton>
      </div>
      {dialog}
    </>
  );
};

interface OfMerchant {
  readonly merchant: OneMerchant;
}

const LiveSwitch = ({ merchant, again }: OfMerchant & Again) => {
  const own = usePolicyWords();
  const { liveEnabled } = merchant;
  // The dialog keeps the state from when it was opened.
  const { opened, open, close } = useOpened<typeof merchant>(again);
  const enable = useSend(graph.EnableLive);
  const disable = useSend(graph.DisableLive);
  return (
    <>
      <ActButton
        permission={liveEnabled ? 'merchantLiveDisable' : 'merchantLiveEnable'}
        onPress={() => open(merchant)}
      >
        {liveEnabled ? own.liveOff : own.liveOn}
      </ActButton>
      {opened && (
        <ActForm
          title={opened.liveEnabled ? own.liveOff : own.liveOn}
          consequence={(opened.liveEnabled ? own.liveOffText : own.liveOnText)(opened.name)}
          close={close}
          act={() => {
            const set = opened.liveEnabled ? disable : enable;
            return set({ merchantId: opened.id }, own.done);
          }}
        />
      )}
    </>
  );
};

type ApiKey = Shop['apiKeys']['nodes'][number];

const KeyRow = ({
  apiKey,
  merchantId,
  again,
}: Again & { readonly apiKey: ApiKey; readonly merchantId: string }) => {
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
}: Again & { readonly shop: Shop; readonly isLive: boolean }) => {
  const { merchants } = useWords();
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
      <DialogAct permission="apiKeyIssue" name={merchants.issue} again={again}>
        {(close) => <IssueDialog shop={shop} isLive={isLive} close={close} />}
      </DialogAct>
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
      <DialogAct permission="webhookEndpointCreate" name={merchants.addEndpoint} again={again}>
        {(close) => <AddEndpointDialog shops={[shop]} close={close} />}
      </DialogAct>
      <ShopSettings shop={shop} again={again} />
    </section>
  );
};

export const MerchantPage = () => {
  const words = useWords();
  const erasure = useErasureWords();
  const people = usePeopleWords();
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const { data, error, again } = useAsk(graph.Merchant, { id });
  if (!data) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  const { merchant } = data;
  if (!merchant) return <Empty title={words.merchants.notFound} />;
  return (
    <>
      <PageHead name={merchant.name}>
        <Status tone={merchant.liveEnabled ? 'good' : 'over'}>
          {merchant.liveEnabled ? words.mode.live : words.merchants.notLive}
        </Status>
        <Id id={merchant.id} />
        <LiveSwitch merchant={merchant} again={again} />
        <Link className="button" to="/people" search={{ merchant: merchant.id }}>
          {people.title}
        </Link>
      </PageHead>
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
