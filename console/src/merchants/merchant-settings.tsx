/** A merchant's settings: its name, its rate limit, new shops. */
import { rateBurst_max, ratePerSecond_max } from '../../../schema/limits.ts';
import * as graph from '../../../schema/generated/console.ts';
import { amountText, readAmount } from '../amounts.ts';
import { wholeNumber, money } from '../format.ts';
import { actButton } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';
import { Facts } from '../parts/texts.tsx';
import { settingsWords as own } from '../words/merchant-settings.ts';
import { words } from '../words/words.ts';

/** An empty field is null; a number out of bounds is undefined. */
const readCount = (text: string, max: number): number | null | undefined => {
  if (text === '') return null;
  const count = Number(text);
  return Number.isInteger(count) && count >= 1 && count <= max ? count : undefined;
};

/** Both numbers of a rate limit, or none of them; null when they are neither. */
const limitOf = ({ rate, most }: Readonly<Record<'rate' | 'most', string>>) => {
  const perSecond = readCount(rate, ratePerSecond_max);
  const burst = readCount(most, rateBurst_max);
  if (perSecond === undefined || burst === undefined) return null;
  return (perSecond === null) === (burst === null) ? { perSecond, burst } : null;
};

/** The limit counts minor units; the field shows them as rubles. */
const currency = 'RUB';

interface OfMerchant {
  readonly merchant: NonNullable<graph.MerchantQuery['merchant']>;
}

const LimitActs = ({ merchant }: OfMerchant) => {
  const { id: merchantId, rateLimit, supportRefundMax } = merchant;
  const count = { isNumber: true, isOptional: true };
  const [perSecond, burst] = [String(rateLimit.perSecond), String(rateLimit.burst)];
  return (
    <>
      {actButton({
        permission: 'merchantRateLimitSet',
        title: own.limitSet,
        isAudited: true,
        consequence: own.limitText,
        fields: {
          rate: { ...count, label: own.perSecond, hint: own.limitHint, initial: perSecond },
          most: { ...count, label: own.burst, hint: own.burstHint, initial: burst },
        },
        fits: (typed) => limitOf(typed) !== null,
        act: (typed) =>
          send(
            graph.LimitMerchant,
            { merchantId, perSecond: null, burst: null, ...limitOf(typed) },
            own.done,
          ),
      })}
      {actButton({
        permission: 'merchantSupportRefundSet',
        title: own.supportSet,
        isAudited: true,
        consequence: own.supportText,
        fields: {
          amount: {
            label: own.support,
            hint: own.supportHint,
            initial: amountText(supportRefundMax, currency),
            isNumber: true,
          },
        },
        fits: ({ amount }) => readAmount(amount, currency) !== null,
        act: ({ amount }) =>
          send(
            graph.LimitSupportRefunds,
            { merchantId, amount: readAmount(amount, currency) ?? 0 },
            own.done,
          ),
      })}
    </>
  );
};

export const MerchantSettings = ({ merchant }: OfMerchant) => {
  const { id: merchantId, name: initial, rateLimit, supportRefundMax } = merchant;
  const now = own.limitNow(wholeNumber(rateLimit.perSecond), wholeNumber(rateLimit.burst));
  const text = { label: words.columns.name, hint: own.nameHint };
  return (
    <section className="card">
      <h2>{own.general}</h2>
      <Facts
        facts={[
          [own.limit, now],
          [own.support, money(supportRefundMax, currency)],
        ]}
      />
      <div className="acts">
        <LimitActs merchant={merchant} />
        {actButton({
          permission: 'merchantRename',
          title: own.rename,
          isAudited: true,
          consequence: own.renameText,
          fields: { name: { ...text, initial } },
          act: ({ name }) => send(graph.RenameMerchant, { merchantId, name }, own.done),
        })}
        {actButton({
          permission: 'shopCreate',
          title: own.shopAdd,
          isAudited: true,
          consequence: own.shopText,
          isRepeated: true,
          fields: { name: text },
          act: ({ name }) => send(graph.AddShop, { merchantId, name }, own.done),
        })}
      </div>
    </section>
  );
};
