/** The closing of a month or of any days: what there was, what moved, what there is, by shop. */
import { useState, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { zoneName, money } from '../format.ts';
import { Button, Form } from '../parts/button.tsx';
import { DateField, PickField, ShopPick } from '../parts/fields.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Money } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { closingWords as own } from '../words/reports.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { isDay, isSame, momentsOf, monthAgo, today, type Days } from './spans.ts';
import { SaveReport } from './save-report.tsx';

type Found = graph.ClosingQuery['closing'];
type Shop = Found['shops'][number];

interface ClosingLine extends Pick<Shop, 'opening' | 'turnover' | 'closing'> {
  readonly id: string;
  readonly name: string;
}

/** More shops than this have no columns of their own beside each other. */
const columns_max = 3;
const months = Array.from({ length: 25 }, (_, ago) => ago);

/** The days in the address; without them a month. */
export const useDays = (monthsAgo: number): Days => {
  const { from, to } = useAddress().search;
  return isDay(from) && isDay(to) ? { first: from, last: to } : monthAgo(monthsAgo);
};

const MonthField = ({ days }: { readonly days: Days }) => {
  const { set } = useAddress();
  const nameOf = new Intl.DateTimeFormat(words.locale, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const options = months.map((ago) => {
    const { first } = monthAgo(ago);
    return [first, nameOf.format(new Date(first))] as const;
  });
  const isMonth = months.some((ago) => isSame(monthAgo(ago), days));
  return (
    <PickField
      label={own.month}
      value={isMonth ? days.first : ''}
      set={(first) => {
        const month = months.map(monthAgo).find((one) => one.first === first);
        if (month) set({ from: month.first, to: month.last });
      }}
      options={isMonth ? options : [['', own.otherDays], ...options]}
    />
  );
};

type Line = ReturnType<typeof linesOf>[number];

const linesOf = () => [
  { name: own.opening, amountIn: ({ opening }: ClosingLine) => opening },
  ...keysOf(own.kinds).map((kind) => ({
    name: own.kinds[kind],
    amountIn: ({ turnover }: ClosingLine) => turnover[kind],
  })),
  { name: own.closing, amountIn: ({ closing }: ClosingLine) => closing },
];

const OneShop = ({ shops }: { readonly shops: readonly ClosingLine[] }) => {
  const { search, set } = useAddress();
  return (
    <ShopPick
      label={own.chooseShop}
      shops={shops}
      value={search.shop ?? ''}
      set={(shop) => set({ shop: shop || undefined })}
      all={own.allShops}
    />
  );
};

const Drawn = ({ found, days }: { readonly found: Found; readonly days: Days }) => {
  const { search } = useAddress();
  const { currency } = found;
  const all: ClosingLine = { id: '', name: own.allShops, ...found };
  const shops = found.shops.map(({ shopId: id, shopName: name, ...rest }) => ({
    id,
    name,
    ...rest,
  }));
  const isBackground = shops.length <= columns_max;
  const beside =
    shops.length === 1 ? [] : shops.filter(({ id }) => isBackground || id === search.shop);
  const columns: readonly Column<Line>[] = [
    { name: currency, cell: ({ name }) => name },
    ...[all, ...beside].map((of) => ({
      name: of.name,
      isNumber: true,
      isNamed: beside.length > 0,
      cell: ({ amountIn }: Line) => <Money amount={amountIn(of)} currency={currency} />,
    })),
  ];
  const daysText = new Intl.DateTimeFormat(words.locale, { dateStyle: 'long', timeZone: 'UTC' });
  const reserved = found.closing - found.closingAvailable;
  const text = (amount: number): string => money(amount, currency);
  const zone = zoneName();
  return (
    <section className="closing" data-columns={columns.length}>
      <h2 className="part-title">
        {daysText.formatRange(new Date(days.first), new Date(days.last))}
        <SaveReport
          label={own.saveLabel}
          name={`closing_${days.first}_${days.last}`}
          columns={[
            { name: words.columns.shop, text: ({ name }) => name },
            { name: own.firstDay(zone), text: () => days.first },
            { name: own.lastDay(zone), text: () => days.last },
            ...linesOf().map(({ name, amountIn: amount }) => ({ name, amount })),
          ]}
          lines={[...shops, all]}
          currency={currency}
        />
      </h2>
      {!isBackground && <OneShop shops={shops} />}
      <Table
        label={own.tabs.closing}
        columns={columns}
        rows={linesOf()}
        keyOf={({ name }) => name}
      />
      <p className="quiet">
        {reserved !== 0 && `${own.reserved(text(found.closingAvailable), text(reserved))} `}
        {days.last >= today() && own.underWay}
      </p>
    </section>
  );
};

const Asked = ({ merchantId, days }: { readonly merchantId: string; readonly days: Days }) => {
  const { mode } = useAddress();
  const moments = momentsOf(days) ?? { from: '', to: '' };
  const { data, error } = useAsk(
    graph.Closing,
    { merchantId, mode, ...moments },
    { pause: moments.from === '' },
  );
  if (data) return <Drawn found={data.closing} days={days} />;
  return <Waiting error={error} />;
};

/** The form; it stands in one row with what also chooses days. */
export const DaysForm = ({
  days,
  children,
}: {
  readonly days: Days;
  readonly children?: ReactNode;
}) => {
  const { set } = useAddress();
  const [typed, setTyped] = useState(days);
  const isSpan = momentsOf(typed) !== null;
  return (
    <Form className="filter-row" send={() => isSpan && set({ from: typed.first, to: typed.last })}>
      {children}
      {(['first', 'last'] as const).map((name) => (
        <DateField
          key={name}
          label={own[name]}
          value={typed[name]}
          set={(day) => setTyped({ ...typed, [name]: day })}
        />
      ))}
      <Button isOff={!isSpan || isSame(typed, days)}>{sharedWords.show}</Button>
      {isDay(typed.first) && isDay(typed.last) && !isSpan && (
        <p className="quiet" role="status">
          {own.wrongDays}
        </p>
      )}
    </Form>
  );
};

export const ClosingPart = () => {
  const { mode } = useAddress();
  const merchantId = useWhose();
  const days = useDays(1);
  if (merchantId === null) return <Empty title={own.chooseMerchant} />;
  return (
    <>
      <DaysForm key={`${days.first} ${days.last}`} days={days}>
        <MonthField days={days} />
      </DaysForm>
      <p className="quiet">{own.explained(zoneName())}</p>
      {/* The numbers of other days never stand under these. */}
      <Asked
        key={`${merchantId} ${mode} ${days.first} ${days.last}`}
        merchantId={merchantId}
        days={days}
      />
    </>
  );
};
