/** The filters of the ledger, and the balance at the ends of the range that they leave. */
import { Closing, type LedgerQueryVariables } from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { Failure } from '../parts/states.tsx';
import { Money } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { RangeFilters, rangeOf, StatusChips, textIn } from '../payments/filters.tsx';
import { useShopFilter } from '../payments/shop-filter.tsx';
import { useLedgerWords } from '../words/ledger.ts';
import { useWords } from '../words/words.ts';
import { startOfDay } from '../zone.ts';

const types = [
  'payment',
  'fee',
  'refund',
  'payout',
  'payout_fee',
  'settlement',
  'adjustment',
] as const;

/** What the address narrows the ledger to. */
export const useNarrowing = (
  merchantId: string,
): Pick<LedgerQueryVariables, 'merchantId' | 'mode' | 'filter'> => {
  const { search, mode } = useAddress();
  const { shop, payment, payout } = search;
  const chosen = listOf(search.status, types);
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

/** The chips and the form. */
export const LedgerFilters = () => {
  const { ledger } = useWords();
  const own = useLedgerWords();
  const { search } = useAddress();
  const ofShop = useShopFilter();
  const facts = ['payment', 'payout'] as const;
  const more = {
    fields: (
      <fieldset>
        <legend>{own.movement}</legend>
        {ofShop.fields}
        {facts.map((fact) => (
          <label key={fact}>
            {own[fact]}
            <input name={fact} spellCheck={false} defaultValue={search[fact] ?? ''} />
          </label>
        ))}
      </fieldset>
    ),
    read: (form: FormData) => ({
      payment: textIn(form, 'payment').trim() || undefined,
      payout: textIn(form, 'payout').trim() || undefined,
      ...ofShop.read(form),
    }),
    shown: [
      ...ofShop.shown,
      ...facts.flatMap((fact) => {
        const id = search[fact];
        return id === undefined ? [] : [[fact, `${ledger.types[fact]} ${id}`] as const];
      }),
    ],
  };
  return (
    <>
      <StatusChips known={types} names={ledger.types} />
      <RangeFilters more={more} />
    </>
  );
};

const Ends = ({ merchantId, from, to }: Readonly<Record<'merchantId' | 'from' | 'to', string>>) => {
  const own = useLedgerWords();
  const { search, mode } = useAddress();
  const { data, error, again } = useAsk(Closing, { merchantId, mode, from, to });
  if (error && !data) return <Failure error={error} again={again} />;
  const { shop } = search;
  const found =
    shop === undefined ? data?.closing : data?.closing.shops.find(({ shopId }) => shopId === shop);
  const currency = data?.closing.currency ?? '';
  return (
    <dl className="strip" aria-busy={!data}>
      {(['opening', 'closing'] as const).map((end) => (
        <div key={end}>
          <dt>{own[end]}</dt>
          <dd>{found ? <Money amount={found[end]} currency={currency} /> : '\u00a0'}</dd>
        </div>
      ))}
    </dl>
  );
};

/** The balance at the beginning and at the end of the chosen range, of the chosen shop. */
export const RangeStrip = ({ merchantId }: { readonly merchantId: string }) => {
  const { search, mode } = useAddress();
  const { since, until } = search;
  if (since === undefined && until === undefined) return null;
  const from = since ?? new Date(0).toISOString();
  const to = until ?? startOfDay(-1).toISOString();
  return <Ends key={`${mode} ${from} ${to}`} merchantId={merchantId} from={from} to={to} />;
};
