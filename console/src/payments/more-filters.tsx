/** The filters specific to payments: method, bank, shop, failure code. */
import { listOf, useAddress, type Search } from '../address.ts';
import { useFilterWords } from '../words/filters.ts';
import { useWords } from '../words/words.ts';
import { textIn, type MoreFilters } from './filters.tsx';
import { ShopField, useShopFilter, useShops } from './shop-filter.tsx';

const methods = ['sbp', 'cards', 'tpay', 'sberpay', 'recurrent'] as const;

/** These fields as a part of the graph's filter. */
export const moreOf = ({ method, bank, shop, code, link }: Search) => {
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
export const fitsMore = (
  row: { readonly method: string; readonly shopId: string },
  { method, bank, shop, code, link }: Search,
): boolean =>
  (method === undefined || method.split(',').includes(row.method)) &&
  (shop === undefined || row.shopId === shop) &&
  bank === undefined &&
  link === undefined &&
  code === undefined;

const Fields = ({ shops }: { readonly shops: ReturnType<typeof useShops> }) => {
  const words = useWords();
  const own = useFilterWords();
  const { search } = useAddress();
  const chosen = listOf(search.method, methods);
  return (
    <fieldset>
      <legend>{own.payment}</legend>
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
      <ShopField shops={shops} />
      <label>
        {words.payment.bank}
        <input name="bank" defaultValue={search.bank ?? ''} />
      </label>
      <label>
        {own.code}
        <input name="code" spellCheck={false} defaultValue={search.code ?? ''} />
      </label>
    </fieldset>
  );
};

/** The additional fields of the filter form of payments. */
export const usePaymentFilters = (): MoreFilters => {
  const words = useWords();
  const own = useFilterWords();
  const shops = useShops();
  const { search } = useAddress();
  const names = listOf(search.method, methods).map((method) => words.payment.methods[method]);
  const ofShop = useShopFilter();
  return {
    fields: <Fields shops={shops} />,
    read: (form) => ({
      method: methods.filter((one) => form.getAll('method').includes(one)).join(',') || undefined,
      bank: textIn(form, 'bank').trim() || undefined,
      code: textIn(form, 'code').trim() || undefined,
      ...ofShop.read(form),
    }),
    shown: [
      ...(names.length === 0 ? [] : [['method', names.join(', ')] as const]),
      ...(search.bank === undefined ? [] : [['bank', search.bank] as const]),
      ...ofShop.shown,
      ...(search.link === undefined ? [] : [['link', own.link] as const]),
      ...(search.code === undefined ? [] : [['code', `${own.code}: ${search.code}`] as const]),
    ],
  };
};
