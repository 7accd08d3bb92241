/** Payments, newest first, live. */
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress, type Search } from '../address.ts';
import { wholeNumber } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Fresh, useLiveRows } from '../parts/use-live-rows.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Money, CopyBlock, PageHead } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { type Column, amountColumn, createdColumn, extra, objectKey } from '../parts/table.tsx';
import { firstPayment, TestPaymentButton } from '../selling/test-payment.tsx';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { PaymentDrawer, methodText, askedOf, PaymentStanding, standsAs } from './shown.tsx';
import {
  cleared,
  isNarrowed,
  RangeFilters,
  rangeOf,
  ManyChips,
  TextFilter,
  type MoreFilter,
  useShopFilter,
} from '../parts/filters.tsx';
import { sharedWords } from '../words/shared.ts';

const methods = ['sbp', 'cards', 'tpay', 'sberpay', 'recurrent'] as const;

const moreOf = ({ method, bank, shop, code, link }: Search) => {
  const chosen = listOf(method, methods);
  return {
    ...(chosen.length === 0 ? {} : { method: [...chosen] }),
    ...(bank === undefined ? {} : { bank: [bank] }),
    ...(link === undefined ? {} : { linkId: link }),
    ...(shop === undefined ? {} : { shopId: [shop] }),
    ...(code === undefined ? {} : { failureCode: [code] }),
  };
};

/** Whether a new row matches the filters; a filter on a field that rows lack never matches. */
const fitsMore = (
  row: { readonly method: string; readonly shopId: string },
  { method, bank, shop, code, link }: Search,
): boolean =>
  (method === undefined || method.split(',').includes(row.method)) &&
  (shop === undefined || row.shopId === shop) &&
  bank === undefined &&
  link === undefined &&
  code === undefined;

const MethodChoice = ({ chosen }: { readonly chosen: readonly string[] }) => (
  <div className="options in-line">
    {methods.map((method) => (
      <label key={method}>
        <input
          type="checkbox"
          name="method"
          value={method}
          defaultChecked={chosen.includes(method)}
        />
        {words.payment.methods[method]}
      </label>
    ))}
  </div>
);

const usePaymentFilters = (): readonly MoreFilter[] => {
  const { search } = useAddress();
  const { bank, code, link } = search;
  const chosen = listOf(search.method, methods);
  return [
    {
      field: 'method',
      shown: chosen.map((method) => words.payment.methods[method]).join(', '),
      input: <MethodChoice chosen={chosen} />,
    },
    useShopFilter(),
    {
      field: 'bank',
      shown: bank,
      input: <TextFilter field="bank" label={words.payment.bank} />,
    },
    { field: 'link', shown: link && sharedWords.link },
    {
      field: 'code',
      shown: code && `${sharedWords.code}: ${code}`,
      input: <TextFilter field="code" label={sharedWords.code} />,
    },
  ];
};

type Row = graph.PaymentRowFragment;

export const paymentColumns = (): readonly Column<Row>[] => [
  {
    id: 'status',
    name: words.columns.status,
    cell: (payment) => <PaymentStanding payment={payment} />,
  },
  { id: 'amount', ...amountColumn(words.columns.amount) },
  {
    id: 'order',
    name: words.columns.order,
    cell: ({ orderId, publicId }) => (
      <span className="two">
        <span title={orderId}>{orderId}</span>
        <span className="quiet mono">{publicId}</span>
      </span>
    ),
  },
  { id: 'method', name: words.columns.method, isWide: true, cell: (row) => methodText(row) },
  { id: 'shop', name: words.columns.shop, isWide: true, cell: ({ shopName }) => shopName },
  createdColumn(words.columns.created),
];

const listColumns = (): readonly Column<Row>[] => [
  ...paymentColumns(),
  { id: 'bank', name: words.payment.bank, ...extra, cell: ({ bankName }) => bankName ?? '' },
  {
    id: 'refunded',
    ...extra,
    isNumber: true,
    name: words.payment.strip.refunded,
    cell: ({ amountRefunded, currency }) =>
      amountRefunded > 0 && <Money amount={amountRefunded} currency={currency} />,
  },
];

const usePayments = () => {
  const { search, mode, merchantId } = useAddress();
  const chosen = listOf(search.status, keysOf(words.payment.statuses));
  const narrow = askedOf(chosen);
  const filter = { mode: [mode], ...rangeOf(search), ...moreOf(search), ...narrow.filter };
  const narrowing = { merchantId, status: narrow.status, filter };
  const page = usePage(graph.Payments, narrowing, { lists: ['refunds'] });
  const { data: counted } = useAsk(graph.PaymentsCount, narrowing, { follow: {} });
  const live = useLiveRows(
    'payment',
    page,
    (row) =>
      row.mode === mode &&
      standsAs(row, chosen) &&
      row.amount >= (filter.amountFrom ?? 0) &&
      row.amount <= (filter.amountTo ?? Infinity) &&
      filter.until === undefined &&
      fitsMore(row, search),
  );
  return { ...live, total: counted?.payments.totalCount ?? null };
};

/** The number of payments, as far as it is cheap to count. */
const Total = ({ total }: { readonly total: { count: number; isExact: boolean } | null }) => {
  if (!total) return null;
  const count = wholeNumber(total.count);
  return (
    <span className="quiet">
      {words.filters.count(total.isExact ? count : words.filters.countMore(count))}
    </span>
  );
};

export const NoPaymentsYet = () => (
  <Empty title={words.payment.empty}>
    <p>{words.payment.emptyText}</p>
    <CopyBlock text={firstPayment(words.payment.emptyKey)} />
  </Empty>
);

const filters = ['status', 'since', 'until', 'from', 'to', 'method', 'bank', 'shop', 'code'];

const NoPayments = () => {
  const { search, set } = useAddress();
  if (isNarrowed(search))
    return (
      <Empty title={words.payment.none}>
        <Button press={() => set(cleared(filters))}>{words.filters.clear}</Button>
      </Empty>
    );
  return <NoPaymentsYet />;
};

export const PaymentsPage = () => {
  const { asked, fresh, total } = usePayments();
  return (
    <>
      <PageHead name={words.sections.payments}>
        <Total total={total} />
        <Fresh {...fresh} />
        <TestPaymentButton />
      </PageHead>
      <ManyChips names={words.payment.statuses} />
      <RangeFilters legend={words.columns.payment} more={usePaymentFilters()} />
      <Listing
        name="payments"
        label={words.sections.payments}
        asked={asked}
        columns={listColumns}
        keyOf={objectKey}
        opens
        empty={<NoPayments />}
      />
      <PaymentDrawer />
    </>
  );
};
