/** Everything of one customer: payments, subscriptions, saved methods. */
import { Link, useNavigate } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { EraseAct } from '../erasure/dialog.tsx';
import { useAddress } from '../address.ts';
import { PageHead, type OfCustomer } from '../parts/texts.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { OfMerchant } from '../parts/whose.tsx';
import { PaymentDrawer } from '../payments/shown.tsx';
import { objectKey } from '../parts/table.tsx';
import { paymentColumns } from '../payments/list.tsx';
import { CustomerField, subscriptionColumns, TokenTable } from '../subscriptions/page.tsx';
import { customerWords as own } from '../words/customers.ts';
import { sharedWords } from '../words/shared.ts';
import { subscriptionWords } from '../words/subscriptions.ts';
import { words } from '../words/words.ts';

const PaymentsOf = ({ merchantId, customer }: OfCustomer) => {
  const { mode } = useAddress();
  const filter = { mode: [mode], customerId: customer };
  const asked = usePage(graph.Payments, { merchantId, status: null, filter }, {});
  return (
    <section>
      <h2>{words.sections.payments}</h2>
      <Listing
        name="payments"
        label={words.sections.payments}
        asked={asked}
        columns={paymentColumns}
        keyOf={objectKey}
        opens
        empty={<Empty title={own.noPayments} />}
      />
      <PaymentDrawer />
    </section>
  );
};

const All = ({
  customer,
  merchantId,
  tab,
}: OfCustomer & { readonly tab: 'subscriptions' | 'tokens' }) => (
  <Link to="/subscriptions" search={{ merchant: merchantId, customer, tab }}>
    {sharedWords.allOfThem}
  </Link>
);

/** The newest are shown; the list of all has pages. */
const shown_max = 50;

const columnsOf = () => subscriptionColumns().filter(({ id }) => id !== 'customer');

const SubscriptionsOf = ({ merchantId, customer }: OfCustomer) => {
  const { mode } = useAddress();
  const navigate = useNavigate();
  const filter = { mode: [mode], customerRef: customer };
  const asked = { merchantId, filter, first: shown_max };
  const { data, error } = useAsk(graph.Subscriptions, asked, { follow: {} });
  const { nodes: rows, pageInfo } = data?.billingSubscriptionsConnection ?? {};
  return (
    <section>
      <h2>{subscriptionWords.tabs.subscriptions}</h2>
      <Listing
        name="subscriptions"
        label={subscriptionWords.tabs.subscriptions}
        asked={{ error, rows }}
        columns={columnsOf}
        onOpen={({ id }) =>
          void navigate({
            to: '/subscriptions',
            search: {
              merchant: merchantId,
              customer,
              open: `${merchantId}/${id}`,
            },
          })
        }
        empty={<p className="quiet">{own.none}</p>}
      />
      {pageInfo?.hasNextPage === true && (
        <All merchantId={merchantId} customer={customer} tab="subscriptions" />
      )}
    </section>
  );
};

const TokensOf = ({ merchantId, customer: customerRef }: OfCustomer) => {
  const { mode } = useAddress();
  const asked = { merchantId, mode, customerRef, first: shown_max };
  const { data, error } = useAsk(graph.Tokens, asked);
  const { nodes: rows, pageInfo } = data?.tokensConnection ?? {};
  return (
    <section>
      <h2>{subscriptionWords.tabs.tokens}</h2>
      <TokenTable asked={{ error, rows }} empty={<p className="quiet">{own.none}</p>} />
      {pageInfo?.hasNextPage === true && (
        <All merchantId={merchantId} customer={customerRef} tab="tokens" />
      )}
    </section>
  );
};

export const CustomerPage = () => {
  const { search } = useAddress();
  const { customer } = search;
  return (
    <>
      <PageHead name={own.customer}>
        <CustomerField />
      </PageHead>
      <OfMerchant>
        {(merchantId) =>
          customer !== undefined && (
            <>
              <div className="acts">
                <EraseAct merchantId={merchantId} subject="customer" id={customer} />
              </div>
              <PaymentsOf merchantId={merchantId} customer={customer} />
              <SubscriptionsOf merchantId={merchantId} customer={customer} />
              <TokensOf merchantId={merchantId} customer={customer} />
            </>
          )
        }
      </OfMerchant>
    </>
  );
};
