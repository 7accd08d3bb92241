/** Home: items that need attention, with links, and the latest activity. */
import { Link } from '@tanstack/react-router';
import { Payments, type PaymentRowFragment } from '../../../schema/generated/console.ts';
import { kept, useAddress, type Search } from '../address.ts';
import type { LiveChange } from '../graph/live.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton, Table } from '../parts/table.tsx';
import { CopyBlock } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useLiveRows } from '../parts/use-live-rows.ts';
import { PaymentDrawer } from '../payments/drawer.tsx';
import { firstPayment } from '../payments/first-payment.ts';
import { paymentColumns, paymentKey } from '../payments/list.tsx';
import { NeededList } from './needed.tsx';
import { Numbers } from './numbers.tsx';
import { Rates } from './rates.tsx';
import { useToday } from './use-today.ts';
import { useWords } from '../words/words.ts';

type Row = PaymentRowFragment;
const latest_rows = 10;
const rowOf = (change: LiveChange): Row | null => (change.kind === 'payment' ? change.row : null);

/** The latest payments, live. */
const Latest = () => {
  const words = useWords();
  const { search, mode, merchantId, set } = useAddress();
  const { data, error, again } = useAsk(Payments, {
    merchantId,
    status: null,
    filter: { mode: [mode] },
    first: latest_rows,
  });
  const live = useLiveRows<Row>({
    rows: data?.payments.nodes,
    keyOf: paymentKey,
    rowOf,
    fits: (row) => row.mode === mode && (merchantId === null || row.merchantId === merchantId),
    isFirstPage: true,
    again,
  });
  if (error && !data) return <Failure error={error} again={again} />;
  if (!data) return <Skeleton />;
  if (live.rows.length === 0)
    return (
      <Empty title={words.payment.empty}>
        <p>{words.payment.emptyText}</p>
        <CopyBlock text={firstPayment(words.payment.emptyKey)} />
      </Empty>
    );
  return (
    <Table
      label={words.home.latest}
      columns={paymentColumns(words)}
      rows={live.rows.slice(0, latest_rows)}
      keyOf={paymentKey}
      changed={live.changed}
      openKey={search.open ?? null}
      onOpen={(row) => set({ open: paymentKey(row) })}
    />
  );
};

/** The screen. */
export const HomePage = () => {
  const words = useWords();
  const today = useToday();
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.home}</h1>
      </header>
      <Numbers today={today} />
      <section>
        <h2 className="part-title">{words.home.hello}</h2>
        <NeededList />
      </section>
      <section>
        <h2 className="part-title">
          {words.home.latest}
          <Link to="/payments" search={(before: Search) => kept(before)}>
            {words.home.see}
          </Link>
        </h2>
        <Latest />
      </section>
      <Rates today={today} />
      <PaymentDrawer />
    </>
  );
};
