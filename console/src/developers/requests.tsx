/** The request log of a shop: what was refused, what failed, and what created something. */
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { duration, prettyJson, readJson } from '../format.ts';
import { FindField, isNarrowed, Chips, NoRows } from '../parts/filters.tsx';
import { DateField } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Drawer } from '../parts/modal.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Status, Moment, Facts, CopyBlock, Id, ObjectLink, type Tone } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { requestWords as own } from '../words/developers.ts';
import { words } from '../words/words.ts';
import type { DeveloperShop } from './keys.tsx';

type Row = graph.RequestsQuery['apiRequests']['nodes'][number];
const page_rows = 50;
/** New calls are not reported to the page. */
const every_ms = 15_000;

const statusGroups = ['2xx', '4xx', '5xx'] as const;

const groupSize = 100;

/** The statuses that a text names: a group, such as `4xx`, or one; null for all. */
const statusesIn = (text: string | undefined): number[] | null => {
  if (text === undefined) return null;
  if (/^\d{3}$/.test(text)) return [Number(text)];
  const first = Number(text[0]) * groupSize;
  return statusGroups.some((group) => group === text)
    ? Array.from({ length: groupSize }, (_, index) => first + index)
    : null;
};

const toneOf = (status: number): Tone => (status < 300 ? 'good' : 'bad');

const columnsOf = (): readonly Column<Row>[] => [
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
  { name: own.took, isNumber: true, isWide: true, cell: ({ durationMs }) => duration(durationMs) },
  { name: words.columns.at, cell: (row) => <Moment at={row.at} /> },
];

/** A pasted key is cut to the part that identifies it: its secret is not for an address. */
const withoutSecret = (text: string): string =>
  /^sk_(?:test|live)_[A-Za-z0-9]*/.exec(text)?.[0] ?? text;

const StatusField = () => {
  const { search, set } = useAddress();
  return (
    <Chips
      label={own.status}
      chips={([undefined, ...statusGroups] as const).map((group) => [
        group === undefined ? words.filters.all : own.groups[group],
        search.status === group,
        () => set({ status: group }),
      ])}
    >
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
              set({ status: target.value || undefined });
          }}
        />
      </label>
    </Chips>
  );
};

const DayFields = () => {
  const { search, set } = useAddress();
  const names = { since: words.filters.since, until: own.to };
  return (['since', 'until'] as const).map((field) => (
    <DateField
      key={field}
      isInline
      label={names[field]}
      value={search[field]?.slice(0, 10) ?? ''}
      set={(day) => set({ [field]: day || undefined })}
    />
  ));
};

type Found = NonNullable<graph.RequestQuery['apiRequest']>;
interface OfShop {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: 'test' | 'live';
}

const places = {
  payout: '/payouts/$merchantId/$id',
  payment: '/payments/$merchantId/$id',
} as const;

// Reads the bodies of the request log; both are masked, and may be cut.

const kinds = ['payment', 'payout', 'link', 'subscription'] as const;

interface Created {
  readonly kind: (typeof kinds)[number];
  readonly id: string;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** What the call created, where its answer says it; null otherwise. */
const createdBy = ({ status, responseBody }: Found): Created | null => {
  if (status >= 300 || responseBody === null) return null;
  const body = readJson(responseBody);
  for (const kind of kinds) {
    const id = fieldOf(fieldOf(body, kind), 'id');
    if (typeof id === 'string') return { kind, id };
  }
  return null;
};

const CreatedLink = ({
  merchantId,
  created: { kind, id },
}: {
  readonly merchantId: string;
  readonly created: Created;
}) => {
  const name = own.kinds[kind];
  return (
    <div className="filter-row">
      <span className="quiet">{own.made}</span>
      {kind === 'payment' || kind === 'payout' ? (
        <ObjectLink className="button" to={places[kind]} merchantId={merchantId} id={id}>
          {name}
        </ObjectLink>
      ) : (
        <Link
          className="button"
          to={kind === 'link' ? '/paylinks' : '/subscriptions'}
          search={{ merchant: merchantId, open: id }}
        >
          {name}
        </Link>
      )}
      <Id id={id} />
    </div>
  );
};

const Body = ({ title, body }: { readonly title: string; readonly body: string | null }) => (
  <section>
    <h2>{title}</h2>
    {body === null ? <p className="quiet">{own.noBody}</p> : <CopyBlock text={prettyJson(body)} />}
  </section>
);

const View = ({ merchantId, found }: { readonly merchantId: string; readonly found: Found }) => {
  const { id, at, status, code, keyPrefix, idempotencyKey, durationMs } = found;
  const created = createdBy(found);
  return (
    <div className="payment">
      <div className="payment-head">
        <Status tone={toneOf(status)}>{[status, code].filter(Boolean).join(' ')}</Status>
      </div>
      {created && <CreatedLink merchantId={merchantId} created={created} />}
      <Facts
        facts={[
          [own.requestId, <Id key="id" id={id} whole />],
          [words.columns.at, <Moment key="at" at={at} />],
          [own.took, duration(durationMs)],
          [own.key, `${keyPrefix}…`],
          [own.idempotencyKey, idempotencyKey && <Id key="key" id={idempotencyKey} whole />],
        ]}
      />
      <p className="quiet">{own.masked}</p>
      <Body title={own.request} body={found.requestBody} />
      <Body title={own.response} body={found.responseBody} />
    </div>
  );
};

/** The drawer; `name` is `<moment>/<request id>`. */
const RequestDrawer = ({ of, name }: { readonly of: OfShop; readonly name: string }) => {
  const slash = name.indexOf('/');
  const [at, id] = [name.slice(0, slash), name.slice(slash + 1)];
  const { data, error } = useAsk(graph.Request, { ...of, id, at });
  const found = data?.apiRequest;
  return (
    <Drawer title={found ? `${found.method} ${found.path}` : words.auditLog.request}>
      {!data && <Waiting error={error} />}
      {data && !found && <Empty title={own.gone} />}
      {found && <View merchantId={of.merchantId} found={found} />}
    </Drawer>
  );
};

export const RequestsPart = ({ shop }: { readonly shop: DeveloperShop }) => {
  const { search, mode } = useAddress();
  const { shop: _, ...narrowing } = search;
  const of = { merchantId: shop.merchantId, shopId: shop.id, mode };
  const narrowed = {
    ...of,
    status: statusesIn(search.status),
    from: search.since?.slice(0, 10) ?? null,
    to: search.until?.slice(0, 10) ?? null,
    find: search.of ?? null,
    first: page_rows,
  };
  const asked = usePage(graph.Requests, narrowed, { every_ms });
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
        label={words.auditLog.request}
        asked={asked}
        columns={columnsOf}
        keyOf={keyOf}
        opens
        empty={<NoRows of={own} isNarrow={isNarrowed(narrowing)} />}
      />
      {search.open !== undefined && <RequestDrawer of={of} name={search.open} />}
    </>
  );
};

/** A caller may give several calls one id: the moment tells them apart. */
const keyOf = ({ id, at }: Row): string => `${at}/${id}`;
