/** The operator's policies: routes, accounts, rates, block lists and exchange rates. */
import { Tabs } from '../parts/tabs.tsx';
import { OfMerchant } from '../parts/whose.tsx';
import { usePermission } from '../viewer.tsx';
import { policyWords as own } from '../words/policies.ts';
import { words } from '../words/words.ts';
import { AccountsPart } from './accounts.tsx';
import { BlocksPart, ForbiddenPart } from './blocks.tsx';
import { RatesPart } from './rates.tsx';
import { RoutesPart } from './routes.tsx';
import * as graph from '../../../schema/generated/console.ts';
import { send } from '../parts/outcome.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment, PageHead } from '../parts/texts.tsx';

type Row = graph.ExchangeRatesQuery['exchangeRates']['nodes'][number];

const columnsOf = (): readonly Column<Row>[] => [
  { name: own.currency, cell: ({ currency }) => currency },
  { name: own.usdt, isNumber: true, cell: ({ usdt }) => <span className="money">{usdt}</span> },
  { name: own.since, cell: ({ since }) => <Moment at={since} /> },
];

/** What is typed of a rate, as the service takes it. */
const rateOf = ({ currency, usdt }: Readonly<Record<'currency' | 'usdt', string>>) => ({
  currency: currency.toUpperCase(),
  usdt: usdt.replace(',', '.'),
});

const ExchangePart = () => (
  <Listing
    name="exchange"
    label={own.tabs.exchange}
    asked={usePage(graph.ExchangeRates, {})}
    columns={columnsOf}
    add={{
      permission: 'exchangeRateSet',
      title: own.exchangeAdd,
      isAudited: true,
      consequence: own.exchangeText,
      fields: {
        currency: { label: own.currency, initial: 'RUB' },
        usdt: { label: own.usdt, isNumber: true },
      },
      fits: (typed) => {
        const { currency, usdt } = rateOf(typed);
        return /^[A-Z]{3}$/.test(currency) && /^\d+(\.\d+)?$/.test(usdt);
      },
      act: (typed) => send(graph.SetExchangeRate, rateOf(typed), own.done),
    }}
    empty={<Empty title={own.exchangeEmpty} />}
  />
);

export const PoliciesPage = () => {
  const mayReadWords = usePermission('forbiddenPurposes').granted;
  // A merchant's people do not see the policies for all merchants.
  const { words: _, ...ofMerchant } = own.tabs;
  const shown: Partial<typeof own.tabs> = mayReadWords ? own.tabs : ofMerchant;
  return (
    <>
      <PageHead name={words.sections.policies} />
      <Tabs
        names={shown}
        parts={{
          routes: <OfMerchant>{(merchantId) => <RoutesPart merchantId={merchantId} />}</OfMerchant>,
          accounts: (
            <OfMerchant>{(merchantId) => <AccountsPart merchantId={merchantId} />}</OfMerchant>
          ),
          rates: <RatesPart />,
          blocks: <BlocksPart />,
          words: <ForbiddenPart />,
          exchange: <ExchangePart />,
        }}
      />
    </>
  );
};
