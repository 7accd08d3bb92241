/** One payout, in a drawer or on its page: recipient, status, draft, bookings and webhooks. */
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { EraseAct } from '../erasure/dialog.tsx';
import {
  Facts,
  Id,
  Money,
  Moment,
  Status,
  tones,
  type Tone,
  type ObjectId,
} from '../parts/texts.tsx';
import { ObjectDrawer, ObjectPage } from '../parts/modal.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { draftWords as own } from '../words/drafts.ts';
import { sharedWords } from '../words/shared.ts';
import { failureName } from '../words/failures.tsx';
import { words } from '../words/words.ts';
import { useBankName, recipientOf, RevealAct } from './recipient.tsx';

type PayoutDetails = NonNullable<graph.PayoutQuery['payout']>;
type Delivery = graph.PayoutQuery['webhookDeliveries']['nodes'][number];
interface Line {
  readonly key: string;
  readonly at: string;
  readonly tone: Tone;
  readonly text: string;
  readonly delivery?: Delivery;
}

/** How long after a payout's end its movements may be booked. */
const booked_ms = 60_000;

const linesOf = (
  { payout, payoutDraft: draft, webhookDeliveries }: graph.PayoutQuery,
  failureOf: (code: string) => string,
): readonly Line[] => {
  if (!payout) return [];
  const { createdAt, completedAt, status, failReason } = payout;
  const ended = `${words.payout.statuses[status]}${failReason === '' ? '' : `: ${failureOf(failReason)}`}`;
  const lines: readonly (Line | null)[] = [
    draft && {
      key: 'proposed',
      at: draft.createdAt,
      tone: 'waiting',
      text: `${own.proposed} ${own.by(draft.createdBy)}: ${draft.reason}`,
    },
    draft?.decidedAt
      ? {
          key: 'decided',
          at: draft.decidedAt,
          tone: 'moving',
          text: `${own.statuses[draft.status]} ${own.by(draft.decidedBy ?? '')}`,
        }
      : null,
    { key: 'made', at: createdAt, tone: 'moving', text: words.columns.createdHer },
    completedAt === null
      ? null
      : { key: 'ended', at: completedAt, tone: tones[status], text: ended },
    ...webhookDeliveries.nodes.map((delivery) => ({
      key: delivery.id,
      at: delivery.createdAt,
      tone: tones[delivery.status],
      text: `${delivery.event.replace('_', '.')}: ${words.delivery.statuses[delivery.status]}`,
      delivery,
    })),
  ];
  return lines
    .filter((line) => line !== null)
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
};

const TimelineLine = ({ line: { at, tone, text, delivery } }: { readonly line: Line }) => {
  const { mode } = useAddress();
  return (
    <li data-tone={tone}>
      <div className="line">
        <span className="break">
          {text}{' '}
          {delivery && (
            <Link
              to="/webhooks"
              search={{
                mode,
                merchant: delivery.merchantId,
                open: `${delivery.merchantId}/${delivery.id}`,
              }}
            >
              {delivery.url}
            </Link>
          )}
        </span>
        <Moment at={at} />
      </div>
    </li>
  );
};

const Booked = ({ payout }: { readonly payout: PayoutDetails }) => {
  const { merchantId, id, mode, createdAt, completedAt } = payout;
  const until =
    completedAt === null ? null : new Date(Date.parse(completedAt) + booked_ms).toISOString();
  const of = { merchantId, payoutId: id, mode, since: createdAt, until };
  const { data, error } = useAsk(graph.PayoutLedger, of, { follow: {} });
  return (
    <section>
      <h2>{words.ledger.movements}</h2>
      {!data && <Waiting error={error} />}
      {data?.ledger.nodes.length === 0 && <p className="quiet">{words.ledger.empty}</p>}
      {data && (
        <ul className="lines">
          {data.ledger.nodes.map((row) => (
            <li key={row.id} className="line">
              <span>{words.ledger.types[row.type]}</span>
              <Money amount={row.amount} currency={row.currency} />
              <Moment at={row.createdAt} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const View = ({ merchantId, id }: ObjectId) => {
  const { data, error } = useAsk(graph.Payout, { merchantId, id }, { follow: {} });
  const bank = useBankName(data?.payout?.recipient.bankId ?? null);
  if (!data) return <Waiting error={error} />;
  const { payout } = data;
  if (!payout) return <Empty title={sharedWords.notFound} />;
  const { amount, currency, status, method, recipient, bankRef, completedAt, shop } = payout;
  return (
    <article className="payment">
      <header className="payment-head">
        <p className="amount money">
          <Money amount={amount} currency={currency} />
        </p>
        <Status tone={tones[status]}>{words.payout.statuses[status]}</Status>
        <p className="quiet line">{recipientOf(payout)}</p>
      </header>
      <div className="acts">
        {(recipient.phone ?? recipient.accountNumber) !== null && (
          <RevealAct merchantId={merchantId} id={id} />
        )}
        {status !== 'pending' && <EraseAct merchantId={merchantId} subject="payout" id={id} />}
      </div>
      <Facts
        facts={[
          [words.columns.method, words.payout.methods[method]],
          [words.columns.shop, shop.name],
          [words.payment.bank, bank],
          [own.reference, bankRef],
          [words.columns.createdHer, <Moment key="made" at={payout.createdAt} />],
          [own.completed, completedAt && <Moment key="ended" at={completedAt} />],
          [words.payment.id, <Id key="id" id={payout.id} whole />],
        ]}
      />
      <section>
        <h2>{own.history}</h2>
        <ol className="timeline">
          {linesOf(data, failureName).map((line) => (
            <TimelineLine key={line.key} line={line} />
          ))}
        </ol>
      </section>
      <Booked payout={payout} />
    </article>
  );
};

export const PayoutDrawer = () => (
  <ObjectDrawer name={own.one} page="/payouts/$merchantId/$id" view={View} />
);

export const PayoutPage = () => <ObjectPage name={own.one} view={View} />;
