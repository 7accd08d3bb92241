/** Assembles the four subgraphs: their executors in this process. */
import type { GraphQLSchema } from 'graphql';
import type { SubgraphName } from '../schema/sources.ts';
import type { Banks } from './acquirers/route.ts';
import { keepClockJob } from './platform/clock/keep-clocks.ts';
import { openContextOf, type TestClocks } from './platform/clock/test-clocks.ts';
import type { CustomerVault } from './platform/database/kept-keys.ts';
import type { Database } from './platform/database/orm.ts';
import type { Policies } from './platform/policies/policies.ts';
import type { Queues } from './platform/queue/queues.ts';
import type { Bus } from './platform/bus/bus.ts';
import { openWake } from './platform/events/relay.ts';
import type { AlertChannels, Secrets } from './platform/config/config.ts';
import { localExecutor } from './platform/graph/local-executor.ts';
import type { SubgraphExecutor } from './platform/graph/subgraph.ts';
import { buildSubgraph } from './platform/graph/build-subgraph.ts';
import type { Logger } from './platform/tracing/telemetry.ts';
import { merchantsSubgraph, type MerchantsDeps } from './merchants/resolvers.ts';
import type { PageOpenings } from './payments/checkout/page-openings.ts';
import { openQuestions } from './payments/jobs.ts';
import { paymentsSubgraph } from './payments/resolvers.ts';
import { sendPayoutsJob } from './payouts/send-payouts.ts';
import { payoutsSubgraph } from './payouts/resolvers.ts';
import { openPayments } from './recurring/ask-payments.ts';
import { recurringSubgraph } from './recurring/resolvers.ts';

export interface SubgraphsDeps {
  readonly database: Database;
  readonly banks: Banks;
  readonly policies: Policies;
  readonly clocks: TestClocks;
  readonly bus: Bus;
  readonly queues: Queues;
  readonly secrets: Secrets;
  /** Seals buyer data in receipts. */
  readonly customers: CustomerVault;
  /** Records opened hosted pages. */
  readonly openings: PageOpenings;
  /** Address of the hosted pages, without a slash at the end. */
  readonly publicUrl: string;
  /** Whether webhooks may currently go to http and to loopback. */
  readonly privateTargets: () => boolean;
  /** How long events, their deliveries and attempts are kept. */
  readonly eventsKept_days: number;
  readonly alertChannels: AlertChannels;
  /** The issuer at which people log in to the console; null: by links. */
  readonly issuer: string | null;
  /** The real time. */
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  /** The payments subgraph, here or in another process; null where it is not used. */
  readonly payments: SubgraphExecutor | null;
}

/** The payments subgraph. Throws when this process neither runs it nor has its address. */
export const paymentsOf = ({ payments }: Pick<SubgraphsDeps, 'payments'>): SubgraphExecutor => {
  if (!payments)
    throw new Error(
      'SUBGRAPH_PAYMENTS_URL is required: recurring billing asks payments, which this process does not run itself',
    );
  return payments;
};

/** The least time between two wake-ups, which merges those of a burst. */
const wakeRest_ms = 5;

/** Wakes at once, and again after a pause when it was called meanwhile. `wake` must not reject. */
const debounced = (wake: () => Promise<void>): (() => void) => {
  let resting = false;
  let called = false;
  const wakeNow = (): void => {
    resting = true;
    called = false;
    void wake();
    setTimeout(() => {
      resting = false;
      if (called) wakeNow();
    }, wakeRest_ms);
  };
  return () => {
    if (resting) called = true;
    else wakeNow();
  };
};

/** New payouts: at most one wake-up of the sending worker is queued, for any number of payouts. */
const openSenders = ({ queues, log }: Pick<SubgraphsDeps, 'queues' | 'log'>): (() => void) =>
  debounced(() =>
    queues
      .addMany(sendPayoutsJob, [{}])
      .catch((error: unknown) =>
        log.warn({ error }, 'could not wake the payout sender; the sweep will send'),
      ),
  );

/** Wake-ups by the cabinet: the workers of webhooks and of test clocks. */
const openCabinetWakes = ({
  queues,
  bus,
  log,
}: Pick<SubgraphsDeps, 'queues' | 'bus' | 'log'>): Pick<
  MerchantsDeps,
  'wakeLanes' | 'wakeClock'
> => ({
  wakeLanes: (lanes) => void bus.publish('webhooks', lanes),
  wakeClock: ({ merchantId, shopId }) =>
    void queues
      .add(keepClockJob, { merchantId, shopId })
      .catch((error: unknown) =>
        log.warn({ error }, 'could not wake a test clock; the sweep will advance it'),
      ),
});

const buildSchema = (name: SubgraphName, deps: SubgraphsDeps): GraphQLSchema => {
  const { database, banks, policies, clocks, customers, openings, secrets, publicUrl, log } = deps;
  const common = { database, policies, clocks };
  switch (name) {
    case 'payments':
      return buildSubgraph(
        paymentsSubgraph({
          ...common,
          openings,
          banks,
          customers,
          privateTargets: deps.privateTargets,
          publicUrl,
          pageSecret: secrets.page,
          wakeRelay: openWake(deps),
          ...openQuestions(deps),
        }),
      );
    case 'payouts':
      return buildSubgraph(
        payoutsSubgraph({
          ...common,
          banks,
          log,
          fingerprintKey: secrets.fingerprint,
          wakeRelay: openWake(deps),
          wakeSenders: openSenders(deps),
        }),
      );
    case 'recurring':
      return buildSubgraph(
        recurringSubgraph({
          ...common,
          customers,
          publicUrl,
          customerSecret: secrets.customer,
          pageSecret: secrets.page,
          payments: openPayments(paymentsOf(deps)),
        }),
      );
    case 'merchants':
      return buildSubgraph(
        merchantsSubgraph({
          ...common,
          bus: deps.bus,
          publicUrl,
          issuer: deps.issuer,
          vaultKey: secrets.vault,
          fingerprintKey: secrets.fingerprint,
          privateTargets: deps.privateTargets,
          realNow: deps.now,
          ...openCabinetWakes(deps),
        }),
      );
  }
};

/** A subgraph in this process. */
export const openSubgraph = (name: SubgraphName, deps: SubgraphsDeps): SubgraphExecutor =>
  localExecutor(buildSchema(name, deps), openContextOf(deps), deps.log);
