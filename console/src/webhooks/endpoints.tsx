/** The endpoints of a merchant: delivery health, samples, replaying failures. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { useFaultText } from '../parts/refusal.tsx';
import { Endpoints, TestEndpoint, type EndpointsQuery } from '../../../schema/generated/console.ts';
import { duration, wholeNumber } from '../format.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Failure } from '../parts/states.tsx';
import { Skeleton } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';
import { useWebhookWords } from '../words/webhooks.ts';
import { useWords } from '../words/words.ts';
import { ReplayDialog } from './replay.tsx';

type Merchant = NonNullable<EndpointsQuery['merchant']>;
type Endpoint = Merchant['shops'][number]['webhookEndpoints'][number];

const Health = ({ health }: Pick<Endpoint, 'health'>) => {
  const { locale } = useWords();
  const words = useWebhookWords();
  const { delivered, failed, pending, failing, oldestPendingAt, nextAttemptAt } = health;
  // One that has been tried in vain is no delivery, though it is tried again.
  const ended = delivered + failed + failing;
  const share = (delivered / ended).toLocaleString(locale, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  return (
    <div className="found quiet">
      <span className={failed + failing > 0 ? 'bad' : undefined}>
        {ended === 0 ? words.noRate : words.rate(share)}
      </span>
      {pending > 0 && <span>{words.pending(wholeNumber(pending, locale))}</span>}
      {failing > 0 && <span className="bad">{words.failing(wholeNumber(failing, locale))}</span>}
      {oldestPendingAt !== null && (
        <span>
          {words.oldest} <Moment at={oldestPendingAt} />
        </span>
      )}
      {nextAttemptAt !== null && (
        <span>
          {words.next} <Moment at={nextAttemptAt} />
        </span>
      )}
    </div>
  );
};

const EndpointCard = ({
  merchantId,
  shopName,
  endpoint,
}: {
  readonly merchantId: string;
  readonly shopName: string;
  readonly endpoint: Endpoint;
}) => {
  const { locale } = useWords();
  const words = useWebhookWords();
  const mayTest = usePermission('webhookEndpointTest');
  const mayReplay = usePermission('webhookDeliveriesResendFailed');
  const [outcome, setOutcome] = useState('');
  const [isReplaying, setReplaying] = useState(false);
  const faultOf = useFaultText();
  const [{ fetching }, send] = useMutation(TestEndpoint);
  const { id, url, active, health } = endpoint;
  const test = async (): Promise<void> => {
    setOutcome(words.testing);
    const { data, error } = await send({ merchantId, id });
    const result = data?.webhookEndpointTest;
    if (result?.__typename !== 'WebhookEndpointTested') return setOutcome(faultOf(result, error));
    const { status, durationMs } = result;
    return setOutcome(
      status === null
        ? words.noAnswer(result.error ?? '')
        : words.answered(status, duration(durationMs, locale)),
    );
  };
  return (
    <li className="card">
      <div className="line">
        <strong className="cut">{url}</strong>
        <span className="quiet">{active ? shopName : words.disabled}</span>
      </div>
      <Health health={health} />
      <div className="acts">
        <ActButton permission={mayTest} onPress={() => !fetching && void test()}>
          {words.test}
        </ActButton>
        <ActButton permission={mayReplay} onPress={() => setReplaying(true)}>
          {words.replay}
        </ActButton>
      </div>
      <p role="status">{outcome}</p>
      {isReplaying && (
        <ReplayDialog merchantId={merchantId} endpointId={id} close={() => setReplaying(false)} />
      )}
    </li>
  );
};

/** The endpoints. */
export const EndpointCards = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWebhookWords();
  const { data, error, again } = useAsk(Endpoints, { merchantId });
  useFollow(again, { lists: ['webhook_deliveries'], events: true });
  if (error && !data) return <Failure error={error} again={again} />;
  if (!data) return <Skeleton />;
  const all = (data.merchant?.shops ?? []).flatMap(({ name, webhookEndpoints }) =>
    webhookEndpoints.map((endpoint) => ({ name, endpoint })),
  );
  if (all.length === 0) return <p className="quiet">{words.noEndpoints}</p>;
  return (
    <ul className="cards" aria-label={words.endpoints}>
      {all.map(({ name, endpoint }) => (
        <EndpointCard
          key={endpoint.id}
          merchantId={merchantId}
          shopName={name}
          endpoint={endpoint}
        />
      ))}
    </ul>
  );
};
