/** One call of the request log: its facts, its bodies, and what it created. */
import { Link } from '@tanstack/react-router';
import { Request, type RequestQuery } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { duration } from '../format.ts';
import { Facts } from '../parts/facts.tsx';
import { Modal } from '../parts/modal.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Skeleton } from '../parts/table.tsx';
import { CopyBlock, Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useRequestWords } from '../words/requests.ts';
import { useWords } from '../words/words.ts';
import { createdBy, prettyBody, type Created } from './request-body.ts';
import { toneOf } from './request-status.ts';

type Found = NonNullable<RequestQuery['apiRequest']>;
interface OfShop {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: 'test' | 'live';
}

const places = {
  payout: '/payouts/$merchantId/$id',
  payment: '/payments/$merchantId/$id',
} as const;

const CreatedLink = ({
  merchantId,
  created: { kind, id },
}: {
  readonly merchantId: string;
  readonly created: Created;
}) => {
  const own = useRequestWords();
  const { search } = useAddress();
  const name = own.kinds[kind];
  return (
    <div className="filter-row">
      <span className="quiet">{own.made}</span>
      {kind === 'payment' || kind === 'payout' ? (
        <Link
          className="button"
          to={places[kind]}
          params={{ merchantId, id }}
          search={kept(search)}
        >
          {name}
        </Link>
      ) : (
        <Link
          className="button"
          to={kind === 'link' ? '/paylinks' : '/subscriptions'}
          search={{ ...kept(search), merchant: merchantId, open: id }}
        >
          {name}
        </Link>
      )}
      <Id id={id} />
    </div>
  );
};

const Body = ({ title, body }: { readonly title: string; readonly body: string | null }) => {
  const own = useRequestWords();
  return (
    <section>
      <h2>{title}</h2>
      {body === null ? (
        <p className="quiet">{own.noBody}</p>
      ) : (
        <CopyBlock text={prettyBody(body)} />
      )}
    </section>
  );
};

const View = ({ merchantId, found }: { readonly merchantId: string; readonly found: Found }) => {
  const { locale, columns } = useWords();
  const own = useRequestWords();
  const { id, at, status, code, keyPrefix, idempotencyKey, durationMs } = found;
  const created = createdBy(found);
  return (
    <div className="payment">
      <div className="payment-head">
        <Status tone={toneOf(status)}>{[status, code].filter(Boolean).join(' ')}</Status>
      </div>
      {created && <CreatedLink merchantId={merchantId} created={created} />}
      <Facts
        facts={[
          [own.requestId, <Id key="id" id={id} whole />],
          [columns.at, <Moment key="at" at={at} />],
          [own.took, duration(durationMs, locale)],
          [own.key, `${keyPrefix}…`],
          [own.idempotencyKey, idempotencyKey && <Id key="key" id={idempotencyKey} whole />],
        ]}
      />
      <p className="quiet">{own.masked}</p>
      <Body title={own.request} body={found.requestBody} />
      <Body title={own.response} body={found.responseBody} />
    </div>
  );
};

/** The drawer; `name` is `<moment>/<request id>`. */
export const RequestDrawer = ({
  of,
  name,
  close,
}: {
  readonly of: OfShop;
  readonly name: string;
  readonly close: () => void;
}) => {
  const own = useRequestWords();
  const slash = name.indexOf('/');
  const [at, id] = [name.slice(0, slash), name.slice(slash + 1)];
  const { data, error, again } = useAsk(Request, { ...of, id, at });
  const found = data?.apiRequest;
  return (
    <Modal side title={found ? `${found.method} ${found.path}` : own.one} isOpen onClose={close}>
      {error && !data && <Failure error={error} again={again} />}
      {!data && !error && <Skeleton />}
      {data && !found && <Empty title={own.gone} />}
      {found && <View merchantId={of.merchantId} found={found} />}
    </Modal>
  );
};
