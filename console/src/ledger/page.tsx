/** A merchant's balance by shop, with every movement. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress, listOf } from '../address.ts';
import { readAmount } from '../amounts.ts';
import { Button, Form } from '../parts/button.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { amountColumn, type Column } from '../parts/table.tsx';
import { Facts, Money, Moment, PageHead } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { PaymentDrawer } from '../payments/shown.tsx';
import {
  RangeFilters,
  rangeOf,
  ManyChips,
  TextFilter,
  useShopFilter,
  useShops,
  NoRows,
} from '../parts/filters.tsx';
import { useWhose } from '../parts/whose.tsx';
import { ledgerWords, reconciliationWords as own } from '../words/reconciliation.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { fromZoneField, startOfDay, money } from '../format.ts';
import { actButton } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';

/* Settlements and adjustments, booked by platform operators. */

/** An amount with an optional minus; null when it is invalid. */
const signedAmount = (text: string): number | null => {
  const trimmed = text.trim();
  const isBelow = /^[-−]/.test(trimmed);
  const amount = readAmount(isBelow ? trimmed.slice(1) : trimmed, 'RUB');
  return amount === null || !isBelow ? amount : -amount;
};

const RecordActs = ({ merchantId }: { readonly merchantId: string }) => {
  const of = { merchantId, mode: useAddress().mode };
  const shops = useShops();
  const barred = shops.length === 0 ? words.acts.running : undefined;
  const done = ({ repeated }: { readonly repeated: boolean }): string =>
    repeated ? own.repeated : own.recorded;
  const shopId = {
    label: words.columns.shop,
    options: shops.map(({ id, name }) => [id, name] as const),
  };
  const amount = { label: own.amount, isNumber: true };
  const reference = { label: own.reference, hint: own.referenceHint };
  const minorOf = (typed: { readonly amount: string }): number => signedAmount(typed.amount) ?? 0;
  return (
    <div className="acts">
      {actButton({
        permission: 'settlementRecord',
        barred,
        title: own.settle,
        consequence: own.settleText,
        fields: { shopId, amount, reference },
        fits: (typed) => minorOf(typed) > 0,
        act: (typed) =>
          send(graph.RecordSettlement, { ...of, ...typed, amount: minorOf(typed) }, done),
      })}
      {actButton({
        permission: 'adjustmentRecord',
        barred,
        title: own.adjust,
        consequence: own.adjustText,
        fields: {
          shopId,
          amount: { ...amount, hint: own.amountSigned },
          reason: { label: words.columns.reason },
          reference,
        },
        fits: (typed) => minorOf(typed) !== 0,
        act: (typed) =>
          send(graph.RecordAdjustment, { ...of, ...typed, amount: minorOf(typed) }, done),
      })}
    </div>
  );
};

const useNarrowing = (
  merchantId: string,
): Pick<graph.LedgerQueryVariables, 'merchantId' | 'mode' | 'filter'> => {
  const { search, mode } = useAddress();
  const { shop, payment, payout } = search;
  const chosen = listOf(search.status, keysOf(words.ledger.types));
  const filter = {
    mode: [mode],
    ...rangeOf(search),
    ...(chosen.length === 0 ? {} : { type: [...chosen] }),
    ...(shop === undefined ? {} : { shopId: [shop] }),
    ...(payment === undefined ? {} : { paymentId: payment }),
    ...(payout === undefined ? {} : { payoutId: payout }),
  };
  return { merchantId, mode, filter };
};

const LedgerFilters = () => {
  const { search } = useAddress();
  const facts = (['payment', 'payout'] as const).map((field) => ({
    field,
    shown: search[field] && `${words.ledger.types[field]} ${search[field]}`,
    input: <TextFilter field={field} label={ledgerWords[field]} />,
  }));
  return (
    <>
      <ManyChips names={words.ledger.types} />
      <RangeFilters legend={ledgerWords.movement} more={[useShopFilter(), ...facts]} />
    </>
  );
};

const Ends = ({ merchantId, from, to }: Readonly<Record<'merchantId' | 'from' | 'to', string>>) => {
  const { search, mode } = useAddress();
  const { data, error } = useAsk(graph.Closing, { merchantId, mode, from, to });
  if (error && !data) return <Failure error={error} />;
  const { shop } = search;
  const found =
    shop === undefined ? data?.closing : data?.closing.shops.find(({ shopId }) => shopId === shop);
  const currency = data?.closing.currency ?? '';
  return (
    <Facts
      isStrip
      isBusy={!data}
      facts={(['opening', 'closing'] as const).map((end) => [
        ledgerWords[end],
        found ? <Money amount={found[end]} currency={currency} /> : '\u00a0',
      ])}
    />
  );
};

/** The balance at the beginning and at the end of the chosen range, of the chosen shop. */
const RangeStrip = ({ merchantId }: { readonly merchantId: string }) => {
  const { search, mode } = useAddress();
  const { since, until } = search;
  if (since === undefined && until === undefined) return null;
  const from = since ?? new Date(0).toISOString();
  const to = until ?? startOfDay(-1).toISOString();
  return <Ends key={`${mode} ${from} ${to}`} merchantId={merchantId} from={from} to={to} />;
};

const AtMoment = ({ merchantId }: { readonly merchantId: string }) => {
  const { mode } = useAddress();
  const [text, setText] = useState('');
  const [at, setAt] = useState<string | null>(null);
  const { data, error } = useAsk(
    graph.BalanceAt,
    { merchantId, mode, at: at ?? new Date(0).toISOString() },
    { pause: at === null },
  );
  const moment = fromZoneField(text);
  return (
    <section className="card">
      <h2>{own.atMoment}</h2>
      <Form className="find" send={() => moment && setAt(moment.toISOString())}>
        <input
          type="datetime-local"
          aria-label={own.atMoment}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button isOff={!moment}>{sharedWords.show}</Button>
      </Form>
      <p className="quiet">{own.atMomentText}</p>
      {at !== null && error && !data && <Failure error={error} />}
      {at !== null && data && (
        <p role="status" className="amount-line">
          {words.sections.balance}{' '}
          <Money amount={data.balanceAt.balance} currency={data.balanceAt.currency} />
        </p>
      )}
    </section>
  );
};

type Row = graph.LedgerQuery['ledger']['nodes'][number];

const columnsOf = (shop?: string): readonly Column<Row>[] => [
  { name: words.columns.type, cell: ({ type }) => words.ledger.types[type] },
  amountColumn(words.columns.amount),
  {
    name: shop === undefined ? ledgerWords.after : ledgerWords.afterOfShop,
    isNumber: true,
    isWide: true,
    cell: ({ balance, shopBalance, currency }) => {
      const after = shop === undefined ? balance : shopBalance;
      return after === null ? null : <Money amount={after} currency={currency} />;
    },
  },
  { name: words.columns.description, isWide: true, cell: ({ description }) => description },
  { name: words.columns.at, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const BalanceStrip = ({ merchantId }: { readonly merchantId: string }) => {
  const { mode } = useAddress();
  const { data, error } = useAsk(graph.Balance, { merchantId, mode });
  if (error && !data) return <Failure error={error} />;
  // Keeps its final height while loading, so that content below does not move.
  const { balance = null, available = null, currency = '', shops = [] } = data?.balance ?? {};
  const shown = (amount: number | null) =>
    amount === null ? '\u00a0' : <Money amount={amount} currency={currency} />;
  return (
    <>
      <Facts
        isStrip
        isBusy={!data}
        facts={[
          [words.sections.balance, shown(balance)],
          [words.ledger.available, shown(available)],
          ...shops.map(
            (shop) => [words.ledger.ofShop(shop.shopName), shown(shop.balance)] as const,
          ),
        ]}
      />
      {data && <Reserved balance={data.balance} />}
    </>
  );
};

const Reserved = ({ balance }: { readonly balance: graph.BalanceQuery['balance'] }) => {
  const reserved = balance.balance - balance.available;
  if (reserved === 0) return null;
  return (
    <p className="quiet">
      {ledgerWords.reserved(money(reserved, balance.currency))}{' '}
      <Link to="/refunds" search={{ status: 'pending' }}>
        {ledgerWords.pendingRefunds}
      </Link>
      {', '}
      <Link to="/payouts" search={{ status: 'pending' }}>
        {ledgerWords.pendingPayouts}
      </Link>
    </p>
  );
};

const Movements = ({ merchantId }: { readonly merchantId: string }) => {
  const { search, set } = useAddress();
  const asked = usePage(graph.Ledger, useNarrowing(merchantId));
  return (
    <>
      <Listing
        name="ledger"
        label={words.ledger.movements}
        asked={asked}
        columns={() => columnsOf(search.shop)}
        onOpen={({ paymentId }) => {
          if (paymentId !== null) set({ open: `${merchantId}/${paymentId}` });
        }}
        empty={<NoRows of={{ ...words.ledger, none: ledgerWords.none }} />}
      />
      <PaymentDrawer />
    </>
  );
};

export const BalancePage = () => {
  const merchantId = useWhose();
  return (
    <>
      <PageHead name={words.sections.balance} />
      {merchantId === null ? (
        <Empty title={words.ledger.chooseMerchant} />
      ) : (
        <>
          <BalanceStrip merchantId={merchantId} />
          <RecordActs merchantId={merchantId} />
          <AtMoment merchantId={merchantId} />
          <h2 className="part-title">{words.ledger.movements}</h2>
          <LedgerFilters />
          <RangeStrip merchantId={merchantId} />
          <Movements merchantId={merchantId} />
        </>
      )}
    </>
  );
};
