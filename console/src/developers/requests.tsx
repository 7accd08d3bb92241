/** The request log of a shop: what was refused, what failed, and what created something. */
import { useMemo } from 'react';
import { Requests, type RequestsQuery } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { duration } from '../format.ts';
import { FindField } from '../parts/find-field.tsx';
import { Listing } from '../parts/listing.tsx';
import { ForwardPager } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { isNarrowed } from '../payments/filters.tsx';
import { useRequestWords, type RequestWords } from '../words/requests.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { RequestDrawer } from './request.tsx';
import { statusesIn, statusGroups, toneOf } from './request-status.ts';
import type { DeveloperShop } from './shop.ts';

type Row = RequestsQuery['apiRequests']['nodes'][number];
const page_rows = 50;
/** New calls are not reported to the page. */
const every_ms = 15_000;

const columnsOf = (own: RequestWords, at: string, locale: string): readonly Column<Row>[] => [
  {
    name: own.status,
    cell: ({ status }) => <Status tone={toneOf(status)}>{String(status)}</Status>,
  },
  {
    name: own.call,
    cell: ({ method, path }) => (
      <code className="cut" title={`${method} ${path}`}>
        {method} {path}
      </code>
    ),
  },
  { name: own.code, cell: ({ code }) => code && <code>{code}</code> },
  { name: own.key, isWide: true, cell: ({ keyPrefix }) => <code>{keyPrefix}…</code> },
  {
    name: own.took,
    isNumber: true,
    isWide: true,
    cell: ({ durationMs }) => duration(durationMs, locale),
  },
  { name: at, cell: (row) => <Moment at={row.at} /> },
];

/** A pasted key is cut to the part that identifies it: its secret is not for an address. */
const withoutSecret = (text: string): string =>
  /^sk_(?:test|live)_[A-Za-z0-9]*/.exec(text)?.[0] ?? text;

const StatusField = () => {
  const words = useWords();
  const own = useRequestWords();
  const { search, set } = useAddress();
  return (
    <div className="chips" role="group" aria-label={own.statuses}>
      {([undefined, ...statusGroups] as const).map((group) => (
        <button
          key={group ?? ''}
          type="button"
          className="chip"
          aria-pressed={search.status === group}
          onClick={() => set({ status: group, after: undefined })}
        >
          {group === undefined ? words.filters.all : own.groups[group]}
        </button>
      ))}
      <label className="inline-field">
        {own.exact}
        <input
          key={search.status}
          className="short"
          inputMode="numeric"
          pattern="[1-5][0-9]{2}"
          maxLength={3}
          defaultValue={/^\d{3}$/.test(search.status ?? '') ? search.status : ''}
          onChange={({ target }) => {
            if (target.value === '' || /^[1-5]\d\d$/.test(target.value))
              set({ status: target.value || undefined, after: undefined });
          }}
        />
      </label>
    </div>
  );
};

const DayFields = () => {
  const own = useRequestWords();
  const { search, set } = useAddress();
  const day = (field: 'since' | 'until', name: string) => (
    <label className="inline-field">
      {name}
      <input
        type="date"
        value={search[field]?.slice(0, 10) ?? ''}
        onChange={({ target }) => set({ [field]: target.value || undefined, after: undefined })}
      />
    </label>
  );
  return (
    <>
      {day('since', own.from)}
      {day('until', own.to)}
    </>
  );
};

/** The part of the screen. */
export const RequestsPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const words = useWords();
  const own = useRequestWords();
  const shared = useSharedWords();
  const { search, mode, set } = useAddress();
  const { shop: _, ...narrowing } = search;
  const of = { merchantId: shop.merchantId, shopId: shop.id, mode };
  const { data, error, again, list } = useAsk(Requests, {
    ...of,
    status: statusesIn(search.status),
    from: search.since?.slice(0, 10) ?? null,
    to: search.until?.slice(0, 10) ?? null,
    find: search.of ?? null,
    first: page_rows,
    after: search.after ?? null,
  });
  useFollow(again, { events: true, every_ms });
  const columns = useMemo(
    () => columnsOf(own, words.columns.at, words.locale),
    [own, words.columns.at, words.locale],
  );
  const page = data?.apiRequests;
  return (
    <>
      <p className="quiet">{own.intro}</p>
      <FindField key={search.of} label={own.find} read={withoutSecret} />
      <div className="filter-row">
        <StatusField />
        <DayFields />
      </div>
      <Listing
        name="requests"
        label={own.one}
        asked={{ error, again, list, rows: page?.nodes }}
        columns={columns}
        keyOf={keyOf}
        openKey={search.open ?? null}
        onOpen={(row) => set({ open: keyOf(row) })}
        empty={
          isNarrowed(narrowing) ? (
            <Empty title={shared.none} />
          ) : (
            <Empty title={own.empty}>
              <p>{own.emptyText}</p>
            </Empty>
          )
        }
      />
      {page && <ForwardPager info={page.pageInfo} names={[words.first, words.next]} />}
      {search.open !== undefined && (
        <RequestDrawer of={of} name={search.open} close={() => set({ open: undefined })} />
      )}
    </>
  );
};

/** A caller may give several calls one id: the moment tells them apart. */
const keyOf = ({ id, at }: Row): string => `${at}/${id}`;
