/** The drawer of a payment link, with its cancellation. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { EndLink, Link as LinkQuery, LinkPayments } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { Facts } from '../parts/facts.tsx';
import { Modal } from '../parts/modal.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import { Skeleton } from '../parts/table.tsx';
import { CopyBlock, Id, Money, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { PaymentStanding } from '../payments/standing.tsx';
import { usePermission } from '../viewer.tsx';
import { useLinkWords } from '../words/links.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { linkAmount, usesText } from './amount.ts';

interface Of {
  readonly merchantId: string;
  readonly id: string;
}

const EndDialog = ({ merchantId, id, close }: Of & { readonly close: () => void }) => {
  const own = useLinkWords();
  const [, end] = useMutation(EndLink);
  return (
    <ActForm
      title={own.end}
      consequence={own.endText}
      close={close}
      act={async () =>
        outcomeOf(await end({ merchantId, id }), ({ linkDeactivate: result }) =>
          result.__typename === 'Refused' ? refusedBy(result) : { done: own.endDone },
        )
      }
    />
  );
};

const LinkActs = ({
  url,
  isOpen,
  changed,
  ...of
}: Of & { readonly url: string; readonly isOpen: boolean; readonly changed: () => void }) => {
  const own = useLinkWords();
  const permission = usePermission('linkDeactivate');
  const [isEnding, setEnding] = useState(false);
  return (
    <div className="acts">
      <a className="button" href={url} target="_blank" rel="noreferrer">
        {own.open}
      </a>
      {isOpen && (
        <ActButton permission={permission} onPress={() => setEnding(true)}>
          {own.end}
        </ActButton>
      )}
      {isEnding && (
        <EndDialog
          {...of}
          close={() => {
            setEnding(false);
            changed();
          }}
        />
      )}
    </div>
  );
};

const View = ({ merchantId, id, changed }: Of & { readonly changed: () => void }) => {
  const words = useWords();
  const own = useLinkWords();
  const shared = useSharedWords();
  const { data, error, again } = useAsk(LinkQuery, { merchantId, id });
  if (!data) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  const { paymentLink: link } = data;
  if (!link) return <Empty title={shared.notFound} />;
  const { status, url, currency } = link;
  const isOpen = status === 'active';
  const act = { merchantId, id, url, isOpen };
  return (
    <article className="payment">
      <header className="payment-head">
        <p className="amount money">{linkAmount(link, own, words.locale)}</p>
        <Status tone={isOpen ? 'moving' : tones[status]}>{own.statuses[status]}</Status>
        <p className="quiet line">{link.description}</p>
      </header>
      <LinkActs
        {...act}
        changed={() => {
          again();
          changed();
        }}
      />
      <CopyBlock text={url} />
      <Facts
        facts={[
          [own.paid, <Money key="paid" amount={link.amountPaid} currency={currency} />],
          [own.payments, String(link.paymentsCount)],
          [own.uses, usesText(link, own)],
          [
            words.columns.method,
            link.method === 'any' ? own.anyMethod : words.payment.methods[link.method],
          ],
          [own.capture, own.captures[link.capture]],
          [words.columns.order, link.orderId],
          [own.returnUrl, link.returnUrl],
          [own.ends, <Moment key="ends" at={link.expiresAt} />],
          [own.ended, link.finalizedAt && <Moment key="ended" at={link.finalizedAt} />],
          [words.payment.id, <Id key="id" id={link.id} whole />],
        ]}
      />
      <LinkPaymentsList merchantId={merchantId} id={id} mode={link.mode} since={link.createdAt} />
    </article>
  );
};

const LinkPaymentsList = ({
  merchantId,
  id,
  mode,
  since,
}: Of & { readonly mode: 'test' | 'live'; readonly since: string }) => {
  const own = useLinkWords();
  const { search } = useAddress();
  const { data, error, again } = useAsk(LinkPayments, { merchantId, id, mode, since });
  useFollow(again);
  if (!data) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  const { nodes, pageInfo } = data.payments;
  return (
    <section>
      <h2>{own.payments}</h2>
      {nodes.length === 0 && <p className="quiet">{own.noPayments}</p>}
      <ul className="lines">
        {nodes.map((payment) => (
          <li key={payment.id} className="line">
            <Link
              to="/payments/$merchantId/$id"
              params={{ merchantId, id: payment.id }}
              search={kept(search)}
            >
              {payment.publicId}
            </Link>
            <PaymentStanding payment={payment} />
            <Money amount={payment.amount} currency={payment.currency} />
            <Moment at={payment.createdAt} />
          </li>
        ))}
      </ul>
      {(pageInfo.hasNextPage || nodes.length > 0) && (
        <Link
          to="/payments"
          search={{ ...kept(search), mode, merchant: merchantId, link: id, since }}
        >
          {own.allPayments}
        </Link>
      )}
    </section>
  );
};

/** The drawer, when the address names a link. */
export const LinkDrawer = ({
  merchantId,
  changed,
}: {
  readonly merchantId: string;
  readonly changed: () => void;
}) => {
  const own = useLinkWords();
  const { search, set } = useAddress();
  if (search.open === undefined) return null;
  return (
    <Modal side title={own.one} isOpen onClose={() => set({ open: undefined })}>
      <View merchantId={merchantId} id={search.open} changed={changed} />
    </Modal>
  );
};
