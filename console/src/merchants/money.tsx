/** What a merchant has, turns over and pays. */
import { Link } from '@tanstack/react-router';
import { Balance, Totals, type MerchantQuery } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { money } from '../amounts.ts';
import { percent, wholeNumber } from '../format.ts';
import { Facts, Moment } from '../parts/texts.tsx';
import { Failure } from '../parts/states.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { dayBefore, endOfHour, ownZone } from '../reports/spans.ts';
import { sumOf } from '../reports/use-totals.ts';
import { useProfileWords } from '../words/merchant-settings.ts';
import { usePolicyWords } from '../words/policies.ts';
import { useWords } from '../words/words.ts';

const volume_days = 30;
const again_ms = 30_000;

export const MoneyCard = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWords();
  const own = useProfileWords();
  const { search, mode } = useAddress();
  const { data, error, again } = useAsk(Balance, { merchantId, mode });
  const { data: volumes, again: recount } = useAsk(Totals, {
    merchantId,
    mode,
    of: 'payment',
    from: dayBefore(volume_days - 1),
    to: endOfHour(),
    timeZone: ownZone(),
  });
  useFollow(again);
  useFollow(recount, { events: false, every_ms: again_ms });
  if (error && !data) return <Failure error={error} again={again} />;
  const { locale } = words;
  const { currency = 'RUB' } = data?.balance ?? {};
  const rows = volumes?.totals.parts.flatMap((part) => part.rows);
  const count = sumOf(rows, 'count');
  const fee = (rows ?? []).reduce((sum, row) => sum + (row.fee ?? 0), 0);
  const at = { ...kept(search), merchant: merchantId };
  return (
    <section className="card">
      <h2>{own.money(words.mode[mode])}</h2>
      <Facts
        facts={[
          [words.sections.balance, data && money(data.balance.balance, currency, locale)],
          [own.available, data && money(data.balance.available, currency, locale)],
          [own.turnover, rows && money(sumOf(rows, 'moved'), currency, locale)],
          [own.payments, rows && wholeNumber(count, locale)],
          [own.share, count > 0 ? percent(sumOf(rows, 'succeeded') / count, locale, 1) : null],
          [own.fees, rows && money(fee, currency, locale)],
        ]}
      />
      <div className="acts">
        <Link className="button" to="/balance" search={at}>
          {words.ledger.movements}
        </Link>
        <Link className="button" to="/reports" search={at}>
          {words.sections.reports}
        </Link>
        <Link className="button" to="/payments" search={at}>
          {words.merchants.seePayments}
        </Link>
      </div>
    </section>
  );
};

type Shop = NonNullable<MerchantQuery['merchant']>['shops'][number];
type Row = Shop['effectiveRates'][number];

export const FeesTable = ({ shop }: { readonly shop: Shop }) => {
  const words = useWords();
  const own = useProfileWords();
  const { rated } = usePolicyWords();
  const columns: readonly Column<Row>[] = [
    { name: words.columns.method, cell: ({ method }) => rated[method] },
    {
      name: words.payment.strip.fee,
      isNumber: true,
      cell: ({ rateBps }) => (
        <span className="money">{percent(rateBps / 10_000, words.locale, 2)}</span>
      ),
    },
    {
      name: own.from,
      isNamed: true,
      cell: ({ level, since }) =>
        since === null ? (
          <span className="quiet">{own.noRate}</span>
        ) : (
          <span className="two">
            <span>{own.levels[level]}</span>
            <span className="quiet">
              {Date.parse(since) <= 0 ? (
                own.always
              ) : (
                <>
                  {own.since} <Moment at={since} />
                </>
              )}
            </span>
          </span>
        ),
    },
  ];
  return (
    <>
      <h3>{own.ratesOf}</h3>
      <Table
        label={`${own.ratesOf}: ${shop.name}`}
        columns={columns}
        rows={shop.effectiveRates}
        keyOf={({ method }) => method}
      />
      <div className="acts">
        <Link
          className="button"
          to="/policies"
          search={{ merchant: shop.merchantId, tab: 'rates' }}
        >
          {own.setRate}
        </Link>
      </div>
    </>
  );
};
