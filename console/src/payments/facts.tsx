/** The facts of a payment other than its money. */
import { Link } from '@tanstack/react-router';
import { CustomerLink } from '../customers/link.tsx';
import { Facts, type Fact } from '../parts/facts.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useCustomerWords } from '../words/customers.ts';
import { useRequestWords } from '../words/requests.ts';
import { useWords } from '../words/words.ts';
import { methodText } from './method.tsx';
import type { PaymentDetails } from './payment-details.ts';

const kept_ms = 7 * 86_400_000;

/** The way to the call in the request log. */
const CreatingCall = ({ payment }: { readonly payment: PaymentDetails }) => {
  const own = useRequestWords();
  const { merchantId, shopId, mode, id } = payment;
  return (
    <Link
      to="/developers"
      search={{ mode, merchant: merchantId, tab: 'requests', shop: shopId, of: id }}
    >
      {own.creating}
    </Link>
  );
};

/** Whether a key made the payment, so lately that its call is still kept. */
const hasCall = ({ timeline, createdAt }: PaymentDetails): boolean =>
  Date.now() - Date.parse(createdAt) < kept_ms &&
  timeline.some(
    (one) => one.__typename === 'TimelineCreated' && one.by === 'key' && one.makerId !== null,
  );

/** The list. */
export const PaymentFacts = ({ payment }: { readonly payment: PaymentDetails }) => {
  const words = useWords();
  const calls = useRequestWords();
  const { payment: names, columns } = words;
  const customers = useCustomerWords();
  const customer = payment.metadata['customer_id'];
  const card = [payment.customerCardBrand, payment.customerCardMask, payment.customerCardHolder];
  const facts: readonly Fact[] = [
    [names.id, <Id key="id" id={payment.id} whole />],
    [columns.payment, <Id key="public" id={payment.publicId} whole />],
    [columns.order, payment.orderId],
    [names.merchantName, payment.merchant.name],
    [columns.shop, payment.shopName],
    [names.terminal, payment.terminalName],
    [columns.method, methodText(payment, words)],
    [names.card, card.filter(Boolean).join(' ')],
    [names.phone, payment.customerPhoneMask],
    [names.payerBank, payment.customerPayerBank],
    [names.bank, payment.bankName],
    [names.rrn, payment.rrn],
    [names.description, payment.description],
    [calls.madeBy, hasCall(payment) ? <CreatingCall key="call" payment={payment} /> : null],
    [
      customers.customer,
      customer === undefined ? null : (
        <CustomerLink key="customer" merchantId={payment.merchantId} customer={customer} />
      ),
    ],
    [names.linkEnds, <Moment key="ends" at={payment.expiresAt} />],
    [
      names.captureBefore,
      payment.captureBefore === null ? null : <Moment key="before" at={payment.captureBefore} />,
    ],
  ];
  const pairs = Object.entries(payment.metadata);
  return (
    <section>
      <h2>{names.facts}</h2>
      <Facts facts={facts} />
      {pairs.length > 0 && (
        <details className="raw">
          <summary>{names.metadata}</summary>
          <pre tabIndex={0}>{JSON.stringify(payment.metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
};
