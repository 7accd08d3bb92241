/** Webhook deliveries: their results, attempts, and resending. */
import { useState } from 'react';
import { later } from '../parts/later.tsx';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { usePage, Listing } from '../parts/listing.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { Moment, PageHead } from '../parts/texts.tsx';
import { reloadScreen } from '../graph/live.ts';
import { useAsk } from '../parts/use-ask.ts';
import { type Column, objectKey, createdColumn, statusColumn } from '../parts/table.tsx';
import { RangeFilters, ManyChips } from '../parts/filters.tsx';
import { useWhose } from '../parts/whose.tsx';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { toldBy, send, type Outcome } from '../parts/outcome.tsx';
import { countText, duration, shortPercent, wholeNumber } from '../format.ts';
import { ActButton, AddBar, actButton, useRun } from '../parts/act-form.tsx';
import { webhookWords as own } from '../words/webhooks.ts';
import { AddEndpointDialog, EndpointActs, EndpointTerms } from './endpoint-acts.tsx';
import { failedSince, ReplayDialog } from './replay.tsx';

type Merchant = NonNullable<graph.EndpointsQuery['merchant']>;
type Endpoint = Merchant['shops'][number]['webhookEndpoints'][number];
/** Failures of the last days, counted as on the home screen. */
type Failed = graph.EndpointsQuery['webhookFailures']['nodes'][number];

const Health = ({ health }: Pick<Endpoint, 'health'>) => {
  const { delivered, failed, pending, failing, oldestPendingAt, nextAttemptAt } = health;
  // One that has been tried in vain is no delivery, though it is tried again.
  const ended = delivered + failed + failing;
  const share = shortPercent(delivered / ended);
  return (
    <div className="found quiet">
      <span className={failed + failing > 0 ? 'bad' : undefined}>
        {ended === 0 ? own.noRate : own.rate(share)}
      </span>
      {pending > 0 && <span>{own.pending(wholeNumber(pending))}</span>}
      {failing > 0 && <span className="bad">{own.failing(wholeNumber(failing))}</span>}
      {oldestPendingAt !== null && (
        <span>
          {own.oldest} <Moment at={oldestPendingAt} />
        </span>
      )}
      {nextAttemptAt !== null && (
        <span>
          {own.next} <Moment at={nextAttemptAt} />
        </span>
      )}
    </div>
  );
};

/** What the buttons do at once: a sample event, and the pending deliveries; the outcome in words. */
const useAtOnce = (merchantId: string, id: string) => {
  const [said, say] = useState('');
  const told = (outcome: Outcome): Outcome => {
    say(toldBy(outcome));
    return outcome;
  };
  const test = useRun(async () => {
    say(own.testing);
    const outcome = await send(
      graph.TestEndpoint,
      { merchantId, id },
      ({ status, fault, durationMs }) =>
        status === null
          ? own.noAnswer(own.faults[fault ?? 'other'])
          : own.answered(status, duration(durationMs)),
    );
    return told(outcome);
  });
  const retry = useRun(async () => {
    let count = 0;
    for (let hasMore = true; ;) {
      const outcome = await send(graph.RetryPending, { merchantId, endpointId: id }, (result) => {
        count += result.count;
        ({ hasMore } = result);
        return own.retried(wholeNumber(count));
      });
      if ('done' in outcome && hasMore) continue;
      if ('done' in outcome) reloadScreen();
      return told(outcome);
    }
  });
  return { said, test, retry };
};

interface CardProps {
  readonly shopName: string;
  readonly endpoint: Endpoint;
  readonly failed: Failed | null;
}

/** The buttons that send something now, before those of the settings. */
const SendingActs = ({ endpoint, failed }: Omit<CardProps, 'shopName'>) => {
  const { merchantId, id, active, health } = endpoint;
  const { said, test, retry } = useAtOnce(merchantId, id);
  const count = failed && countText(failed.count);
  const barred = active ? own.replayNone : own.replayDisabled;
  return (
    <>
      <EndpointActs endpoint={endpoint}>
        <ActButton permission="webhookEndpointTest" onPress={() => !test.isRunning && test.run()}>
          {own.test}
        </ActButton>
        {actButton({
          permission: 'webhookDeliveriesResendFailed',
          barred: failed && active ? undefined : barred,
          title: count === null ? own.replay : own.replayCount(count),
          dialog: failed && (
            <ReplayDialog merchantId={merchantId} endpointId={id} from={failed.oldestAt} />
          ),
        })}
        <ActButton
          permission="webhookDeliveriesRetry"
          barred={health.pending > 0 ? undefined : own.retryNone}
          onPress={() => !retry.isRunning && retry.run()}
        >
          {own.retry}
        </ActButton>
      </EndpointActs>
      <p role="status">{said}</p>
    </>
  );
};

const EndpointCard = ({ shopName, ...of }: CardProps) => {
  const { endpoint } = of;
  const { url, active, health } = endpoint;
  return (
    <li className="card" data-over={!active}>
      <div className="line">
        <strong className="cut">{url}</strong>
        <span className="quiet">{active ? shopName : own.disabled}</span>
      </div>
      <span className="stack">
        <EndpointTerms endpoint={endpoint} />
      </span>
      <Health health={health} />
      <SendingActs {...of} />
    </li>
  );
};

const EndpointCards = ({ merchantId }: { readonly merchantId: string }) => {
  const { mode } = useAddress();
  const asked = { merchantId, mode, failedSince: failedSince() };
  const follow = { lists: ['webhook_deliveries', 'webhook_failures'], events: true } as const;
  const { data, error } = useAsk(graph.Endpoints, asked, { follow });
  if (!data) return <Waiting error={error} />;
  const shops = data.merchant?.shops ?? [];
  const [first, ...others] = shops;
  const all = shops.flatMap(({ name, webhookEndpoints }) =>
    webhookEndpoints.map((endpoint) => ({ name, endpoint })),
  );
  return (
    <>
      {first && (
        <AddBar
          permission="webhookEndpointCreate"
          title={words.merchants.addEndpoint}
          dialog={<AddEndpointDialog shops={[first, ...others]} />}
        />
      )}
      {all.length === 0 && <p className="quiet">{own.noEndpoints}</p>}
      <ul className="cards" aria-label={own.endpoints}>
        {all.map(({ name, endpoint }) => (
          <EndpointCard
            key={endpoint.id}
            shopName={name}
            endpoint={endpoint}
            failed={
              data.webhookFailures.nodes.find(({ endpointId }) => endpointId === endpoint.id) ??
              null
            }
          />
        ))}
      </ul>
    </>
  );
};

const LaterDrawer = later(async () => (await import('./delivery.tsx')).DeliveryDrawer);

type Row = graph.DeliveriesQuery['webhookDeliveries']['nodes'][number];

const columnsOf = (): readonly Column<Row>[] => [
  statusColumn(words.columns.status, words.delivery.statuses),
  { id: 'event', name: words.columns.event, cell: ({ event }) => event.replace('_', '.') },
  {
    id: 'address',
    name: words.columns.address,
    cell: ({ url }) => <span className="cut">{url}</span>,
  },
  {
    id: 'attempts',
    name: words.columns.attempts,
    isNumber: true,
    isWide: true,
    cell: ({ attempts }) => attempts,
  },
  {
    id: 'next',
    name: words.columns.next,
    isWide: true,
    cell: ({ nextAttemptAt }) => nextAttemptAt !== null && <Moment at={nextAttemptAt} />,
  },
  createdColumn(words.columns.created),
];

const useDeliveries = () => {
  const { search, mode, merchantId } = useAddress();
  const owner = useWhose();
  const isOfAll = owner === null;
  const [chosen] = listOf(search.status, keysOf(words.delivery.statuses));
  const status = isOfAll ? 'failed' : (chosen ?? null);
  const narrowing = {
    merchantId,
    mode,
    status,
    since: search.since ?? null,
    until: search.until ?? null,
  };
  const asked = usePage(graph.Deliveries, narrowing, {
    lists: ['webhook_deliveries'],
    events: true,
  });
  return { asked, owner, status };
};

export const WebhooksPage = () => {
  const { search } = useAddress();
  const { asked, owner, status } = useDeliveries();
  const isOfAll = owner === null;
  return (
    <>
      <PageHead name={words.sections.webhooks} />
      {!isOfAll && <EndpointCards merchantId={owner} />}
      {isOfAll ? (
        <p className="quiet">{words.delivery.chooseMerchant}</p>
      ) : (
        <ManyChips names={words.delivery.statuses} />
      )}
      <RangeFilters hasAmounts={false} />
      <Listing
        name="webhooks"
        label={words.sections.webhooks}
        asked={asked}
        columns={columnsOf}
        keyOf={objectKey}
        opens
        empty={
          <Empty
            title={
              isOfAll
                ? words.delivery.noneFailed
                : status === null
                  ? words.delivery.empty
                  : words.delivery.none
            }
          >
            {status === null && <p>{words.delivery.emptyText}</p>}
          </Empty>
        }
      />
      {search.open !== undefined && <LaterDrawer name={search.open} />}
    </>
  );
};
