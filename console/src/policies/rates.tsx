/** Commission rates by method: for all merchants, for one, for one of its shops. */
import * as graph from '../../../schema/generated/console.ts';
import { readAmount } from '../amounts.ts';
import { percent, plainMoment, fromZoneField } from '../format.ts';
import { send } from '../parts/outcome.tsx';
import { DateField, PickField, ShopPick, TextField, useTyped } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { useShops } from '../parts/filters.tsx';
import { policyWords as own } from '../words/policies.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { ActForm } from '../parts/act-form.tsx';

type Shops = ReturnType<typeof useShops>;
type Row = graph.RatesQuery['rateHistory']['nodes'][number];

const columnsOf = (shops: Shops): readonly Column<Row>[] => [
  { name: words.columns.method, cell: ({ method }) => own.rated[method] },
  {
    name: own.percent,
    isNumber: true,
    cell: ({ rateBps }) => <span className="money">{percent(rateBps / 10_000, 2)}</span>,
  },
  {
    name: own.whose,
    isWide: true,
    cell: ({ merchantId, shopId }) => {
      const id = shopId ?? merchantId;
      if (id === null) return words.allMerchants;
      const name = shopId === null ? own.allShops : shops.find(({ id: of }) => of === shopId)?.name;
      return (
        <span className="two">
          {name !== undefined && <span>{name}</span>}
          <Id id={id} />
        </span>
      );
    },
  },
  {
    name: own.since,
    cell: ({ since }) => (
      <span className="two">
        {Date.parse(since) <= 0 ? own.always : <Moment at={since} />}
        {Date.parse(since) > Date.now() && <span className="quiet">{own.ahead}</span>}
      </span>
    ),
  },
];

const nothingTyped = { shopId: '', method: 'cards' as graph.RatedMethod, text: '', from: '' };

const SetDialog = ({ merchantId }: { readonly merchantId: string | null }) => {
  const shops = useShops();
  const { typed, held } = useTyped(nothingTyped);
  const { shopId, method, text, from } = typed;
  // A percentage with two digits is as many basis points as an amount has kopecks.
  const rateBps = readAmount(text, 'RUB');
  const since = fromZoneField(from);
  const isAhead = from === '' || (since !== null && since.getTime() > Date.now());
  const isReady = rateBps !== null && rateBps <= 10_000 && isAhead;
  const when = since === null ? own.rateText : own.fromText(plainMoment(since.toISOString()));
  return (
    <ActForm
      isAudited
      title={own.rateAdd}
      consequence={merchantId === null ? `${when} ${words.allMerchants}.` : when}
      isReady={isReady}
      act={() =>
        send(
          graph.SetRate,
          {
            merchantId,
            shopId: shopId || null,
            method,
            rateBps: rateBps ?? 0,
            since: since?.toISOString() ?? null,
          },
          since === null ? own.done : own.ahead,
        )
      }
    >
      {shops.length > 0 && (
        <ShopPick label={own.holdsFor} shops={shops} all={own.allShops} {...held('shopId')} />
      )}
      <PickField label={words.columns.method} {...held('method')} options={optionsOf(own.rated)} />
      <TextField label={own.percent} {...held('text')} hint={own.percentHint} isNumber />
      <DateField label={own.from} {...held('from')} hasTime hint={own.fromHint} />
    </ActForm>
  );
};

export const RatesPart = () => {
  const merchantId = useWhose();
  const shops = useShops();
  const asked = usePage(graph.Rates, { merchantId });
  return (
    <>
      {merchantId === null && <p className="quiet">{own.ofAll}</p>}
      <Listing
        name="rates"
        label={own.tabs.rates}
        asked={asked}
        columns={() => columnsOf(shops)}
        add={{
          permission: 'rateSet',
          title: own.rateAdd,
          dialog: <SetDialog merchantId={merchantId} />,
        }}
        empty={<Empty title={merchantId === null ? own.ratesEmptyAll : own.ratesEmpty} />}
      />
    </>
  );
};
