/** The choice of a shop, for lists that are narrowed by it. */
import { PolicyShops } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { useWords } from '../words/words.ts';
import { textIn, type MoreFilters } from './filters.tsx';

/** The shops of the merchant that is looked at; none where all are. */
export const useShops = () => {
  const merchantId = useWhose();
  const { data } = useAsk(PolicyShops, { merchantId: merchantId ?? '' }, merchantId === null);
  return data?.merchant?.shops ?? [];
};

/** The field, where there is more than one shop. */
export const ShopField = ({ shops }: { readonly shops: ReturnType<typeof useShops> }) => {
  const words = useWords();
  const { search } = useAddress();
  if (shops.length < 2) return null;
  return (
    <label>
      {words.columns.shop}
      <select name="shop" defaultValue={search.shop ?? ''}>
        <option value="">{words.filters.all}</option>
        {shops.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
};

/** What the form of filters reads of it, and what is shown of what it has set. */
export const useShopFilter = (): MoreFilters => {
  const shops = useShops();
  const { search } = useAddress();
  const name = shops.find(({ id }) => id === search.shop)?.name ?? search.shop;
  return {
    fields: <ShopField shops={shops} />,
    read: (form) => ({
      shop: form.has('shop') ? textIn(form, 'shop') || undefined : search.shop,
    }),
    shown: search.shop === undefined ? [] : [['shop', name ?? '']],
  };
};
