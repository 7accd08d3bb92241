/** A merchant's balance by shop, with every movement. */
import { useState } from 'react';
import { Balance, Ledger, type LedgerQuery } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ExportButton } from '../parts/export-button.tsx';
import { Pager, usePageArguments } from '../parts/pager.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton, Table, type Column } from '../parts/table.tsx';
import { Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { PaymentDrawer } from '../payments/drawer.tsx';
import { useViewer } from '../viewer.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { AtMoment } from './at-moment.tsx';
import { RecordActs } from './record.tsx';

type Row = LedgerQuery['ledger']['nodes'][number];

const columnsOf = (words: Words): readonly Column<Row>[] => [
  { name: words.columns.type, cell: ({ type }) => words.ledger.types[type] },
  {
    name: words.columns.amount,
    isNumber: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  { name: words.columns.description, isWide: true, cell: ({ description }) => description },
  { name: words.columns.at, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const BalanceStrip = ({ merchantId }: { readonly merchantId: string }) => {
  const { ledger } = useWords();
  const { mode } = useAddress();
  const { data, error, again } = useAsk(Balance, { merchantId, mode });
  if (error && !data) return <Failure error={error} again={again} />;
  // Keeps its final height while loading, so that content below does not move.
  const { balance = null, available = null, currency = '', shops = [] } = data?.balance ?? {};
  const shown = (amount: number | null) =>
    amount === null ? '\u00a0' : <Money amount={amount} currency={currency} />;
  return (
    <dl className="strip" aria-busy={!data}>
      <div>
        <dt>{ledger.balance}</dt>
        <dd>{shown(balance)}</dd>
      </div>
      <div>
        <dt>{ledger.available}</dt>
        <dd>{shown(available)}</dd>
      </div>
      {shops.map(({ shopId, shopName, balance: part }) => (
        <div key={shopId}>
          <dt>{ledger.ofShop(shopName)}</dt>
          <dd>
            <Money amount={part} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

const Movements = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWords();
  const { mode, set } = useAddress();
  const { data, error, again } = useAsk(Ledger, { merchantId, mode, ...usePageArguments() });
  if (error && !data) return <Failure error={error} again={again} />;
  if (!data) return <Skeleton />;
  const { nodes, pageInfo } = data.ledger;
  if (nodes.length === 0)
    return (
      <Empty title={words.ledger.empty}>
        <p>{words.ledger.emptyText}</p>
      </Empty>
    );
  return (
    <>
      <Table
        label={words.ledger.movements}
        columns={columnsOf(words)}
        rows={nodes}
        keyOf={({ id }) => id}
        onOpen={({ paymentId }) => {
          if (paymentId !== null) set({ open: `${merchantId}/${paymentId}` });
        }}
      />
      <Pager info={pageInfo} />
      <PaymentDrawer />
    </>
  );
};

/** The screen. */
export const BalancePage = () => {
  // Reloads after a booking.
  const [booked, setBooked] = useState(0);
  const words = useWords();
  const viewer = useViewer();
  const { merchantId: named, mode } = useAddress();
  const merchantId = viewer.merchantId ?? named;
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.balance}</h1>
      </header>
      {merchantId === null ? (
        <Empty title={words.ledger.chooseMerchant} />
      ) : (
        <>
          <BalanceStrip key={`balance ${booked}`} merchantId={merchantId} />
          <RecordActs merchantId={merchantId} again={() => setBooked(booked + 1)} />
          <AtMoment merchantId={merchantId} />
          <h2 className="part-title">
            {words.ledger.movements}
            <ExportButton of={Ledger} variables={{ merchantId, mode }} />
          </h2>
          <Movements key={`movements ${booked}`} merchantId={merchantId} />
        </>
      )}
    </>
  );
};
