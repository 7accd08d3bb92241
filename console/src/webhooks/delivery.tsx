/** One webhook: its attempts, its content, resending, reproducing it by hand. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { useRefusalText } from '../parts/refusal.tsx';
import { Delivery, ResendDelivery, type DeliveryQuery } from '../../../schema/generated/console.ts';
import { duration } from '../format.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Modal } from '../parts/modal.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import { Skeleton } from '../parts/table.tsx';
import { CopyBlock, Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useWebhookWords } from '../words/webhooks.ts';
import { useWords } from '../words/words.ts';
import { curlOf, verifierOf } from './reproduce.ts';

type Row = NonNullable<DeliveryQuery['webhookDelivery']>;
type Request = NonNullable<Row['request']>;

const Attempts = ({ delivery }: { readonly delivery: Row }) => {
  const words = useWords();
  const own = useWebhookWords();
  if (delivery.attemptLog.length === 0) return <p>{words.delivery.noAttempts}</p>;
  return (
    <ol className="timeline">
      {delivery.attemptLog.map(({ number, at, durationMs, status, fault, responseHead }) => (
        <li key={number} data-tone={status !== null && status < 300 ? 'good' : 'bad'}>
          <div className="line">
            <span>
              {words.payment.attempt(
                number,
                status === null
                  ? fault === null
                    ? words.payment.noAnswer
                    : own.faults[fault]
                  : String(status),
                duration(durationMs, words.locale),
              )}
            </span>
            <Moment at={at} />
          </div>
          {responseHead !== null && responseHead !== '' && (
            <details className="raw">
              <summary>{words.payment.raw}</summary>
              <pre tabIndex={0}>{responseHead}</pre>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
};

const prettyOf = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

const Body = ({ body }: { readonly body: string }) => {
  const words = useWebhookWords();
  const [isRaw, setRaw] = useState(false);
  return (
    <section>
      <h2>{words.body}</h2>
      <div className="chips" role="group" aria-label={words.body}>
        {([false, true] as const).map((raw) => (
          <button
            key={String(raw)}
            type="button"
            className="chip"
            aria-pressed={isRaw === raw}
            onClick={() => setRaw(raw)}
          >
            {raw ? words.bytes : words.pretty}
          </button>
        ))}
      </div>
      <CopyBlock text={isRaw ? body : prettyOf(body)} />
    </section>
  );
};

/** The posted request, with commands to reproduce and verify it. */
const Reproduce = ({ request, url }: { readonly request: Request; readonly url: string }) => {
  const words = useWebhookWords();
  return (
    <>
      <Body body={request.body} />
      <section>
        <h2>{words.headers}</h2>
        <pre className="record" tabIndex={0}>
          {request.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
        </pre>
      </section>
      <section>
        <h2>{words.curl}</h2>
        <p className="quiet">{words.curlText}</p>
        <CopyBlock text={curlOf(request, url)} />
      </section>
      <section>
        <h2>{words.verify}</h2>
        <CopyBlock text={verifierOf(request.signature)} />
        <p>
          <a href="/docs/webhooks">{words.verifyMore}</a>
        </p>
      </section>
    </>
  );
};

const Found = ({ delivery, again }: { readonly delivery: Row; readonly again: () => void }) => {
  const words = useWords();
  const own = useWebhookWords();
  const permission = usePermission('webhookDeliveryResend');
  const [outcome, setOutcome] = useState('');
  const refusalText = useRefusalText();
  const [{ fetching }, resend] = useMutation(ResendDelivery);
  const { merchantId, id, status, request } = delivery;
  const send = async (): Promise<void> => {
    const { data, error } = await resend({ merchantId, id });
    const result = data?.webhookDeliveryResend;
    const isSent = result?.__typename === 'WebhookDelivery';
    setOutcome(isSent ? words.delivery.resent : refusalText(result, error));
    again();
  };
  return (
    <div className="payment">
      <div className="payment-head">
        <Status tone={tones[status]}>{words.delivery.statuses[status]}</Status>
        <p className="quiet line break">{delivery.url}</p>
        <Id id={delivery.eventId} whole />
      </div>
      <div className="acts">
        <ActButton permission={permission} onPress={() => !fetching && void send()}>
          {status === 'pending' ? own.retryOne : words.delivery.resend}
        </ActButton>
      </div>
      <p className="quiet">{request ? words.delivery.resendText : own.gone}</p>
      {request && delivery.event.startsWith('payout') && <p className="quiet">{own.masked}</p>}
      <p aria-live="polite">{outcome}</p>
      <section>
        <h2>{words.delivery.attempts}</h2>
        <Attempts delivery={delivery} />
      </section>
      {request && <Reproduce request={request} url={delivery.url} />}
    </div>
  );
};

/** The drawer of a webhook; `name` is `<merchant>/<delivery>`. */
export const DeliveryDrawer = ({
  name,
  close,
}: {
  readonly name: string;
  readonly close: () => void;
}) => {
  const { none } = useWords().delivery;
  const { notFound } = useSharedWords();
  const [merchantId = '', id = ''] = name.split('/');
  const { data, error, again } = useAsk(Delivery, { merchantId, id });
  const found = data?.webhookDelivery;
  useFollow(again, { lists: ['webhook_deliveries'] });
  return (
    <Modal side title={found?.event.replace('_', '.') ?? none} isOpen onClose={close}>
      {error && !data && <Failure error={error} again={again} />}
      {!data && !error && <Skeleton />}
      {data && !found && <Empty title={notFound} />}
      {found && <Found delivery={found} again={again} />}
    </Modal>
  );
};
