/**
 * The real schema and the real gateway over subgraphs that always answer the same payment: what
 * remains is the cost of the graph itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, type GraphQLSchema } from 'graphql';
import { readSubgraphSdl, subgraphNames, type SubgraphName } from '../../../schema/sources.ts';
import type { ApiKeyHolder } from '../../../gateway/callers/caller.ts';
import { openSupergraph, type Supergraph } from '../../../gateway/supergraph.ts';
import {
  resolvableEntities,
  type EntityLoader,
} from '../../../subgraphs/kernel/service/entities.ts';
import { localExecutor } from '../../../subgraphs/kernel/service/graph/local-executor.ts';
import {
  scopes,
  type Call,
  type KeyPrincipal,
} from '../../../subgraphs/kernel/service/access/principal.ts';
import type {
  SubgraphContext,
  SubgraphExecutor,
} from '../../../subgraphs/kernel/service/graph/subgraph.ts';
import { buildSubgraph } from '../../../subgraphs/kernel/service/graph/build-subgraph.ts';
import { openLog } from '../../../subgraphs/kernel/service/tracing/telemetry.ts';
import type { Payment } from '../../../subgraphs/payments/entities.ts';
import { publicPayment } from '../../../subgraphs/payments/payment-view.ts';

export const silent = openLog({ logLevel: 'silent' }, 'bench');
export const supergraphSdl = readFileSync(
  join(import.meta.dirname, '../../../schema/supergraph.graphql'),
  'utf8',
);

const [merchantId, shopId] = [
  '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0001',
  '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0002',
];

/** Who calls. */
export const principal: KeyPrincipal = {
  kind: 'key',
  keyId: shopId,
  merchantId,
  shopId,
  mode: 'test',
  scopes,
};

/** The row that every answer is about. */
const payment: Payment = {
  merchantId,
  id: '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0003',
  version: 1,
  publicId: 'P-100001',
  shopId,
  terminalId: '6f1c2d50-0b7e-4f57-9c6a-6a1d3a1b0004',
  terminalName: 'Terminal',
  shopName: 'Tea & Cakes',
  mode: 'test',
  orderId: 'order-1',
  amount: 10_000n,
  receiptTermsId: null,
  captureTermsId: null,
  capture: null,
  amountCaptured: null,
  captureBefore: null,
  holdOrder: null,
  holdKey: null,
  amountRefunded: 0n,
  amountUsdt: null,
  currency: 'RUB',
  method: 'any',
  status: 'pending',
  rrn: null,
  bankName: null,
  connector: null,
  returnUrl: 'https://example.com/thanks',
  webhookUrl: null,
  description: 'Tea and cakes',
  customerId: null,
  metadata: { cart: '17', mode: 'test', simulator_outcome: 'succeeded' },
  createdAt: Temporal.Instant.from('2026-05-06T10:00:00.123Z'),
  expiresAt: Temporal.Instant.from('2026-05-06T11:00:00.123Z'),
  processingUntil: null,
  capturedAt: null,
  finalizedAt: null,
  askAt: null,
  orderedAt: null,
  customerCardBrand: null,
  customerCardMask: null,
  customerCardHolder: null,
  customerPhoneMask: null,
  customerPayerBank: null,
  fee: null,
  feeRateBps: null,
  bankRef: null,
  step: null,
  stepUrl: null,
  failureCode: null,
  plannedOutcome: 'succeeded',
  plannedFailureCode: null,
  kind: null,
  tokenId: null,
  subscriptionId: null,
  madeByKey: null,
  savedReference: null,
  verification: false,
};
const paymentUrl = 'https://pay.example/pay/token';

/** The same as public JSON. */
export const paymentAnswer: object = publicPayment(payment, []);
export const createdAnswer: object = {
  payment: paymentAnswer,
  payment_url: paymentUrl,
  mode: 'test',
  idempotent: false,
  simulator: 'succeeded',
  bank: null,
  bank_ref: null,
  failure_code: null,
  failure_message: null,
};

const holder: ApiKeyHolder = {
  ...principal,
  scopes: [...scopes],
  liveEnabled: true,
  requireSignature: false,
  requireBoundSignature: false,
  signingSecretSealed: null,
  allowList: [],
  receiptsRequired: false,
  hasTestClock: false,
  rateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
};

const created = {
  __typename: 'PaymentCreated',
  payment,
  paymentUrl,
  mode: 'test',
  idempotent: false,
  simulator: 'succeeded',
};
/** A page of payments of a few shops. */
export const listed = { payments: 50, shops: 5 } as const;
const shopIds = Array.from({ length: listed.shops }, (_, index) =>
  shopId.replace(/02$/, `a${index}`),
);
const page = Array.from({ length: listed.payments }, (_, index) => ({
  ...payment,
  id: `${payment.id.slice(0, -2)}${index + 10}`,
  shopId: shopIds[index % listed.shops] ?? shopId,
}));
const shopOf = (id: string): object => ({
  merchantId,
  id,
  name: 'Tea & Cakes',
  terminalId: payment.terminalId,
  terminalName: 'Terminal',
  createdAt: payment.createdAt,
});
const answers: Readonly<Record<string, object>> = {
  payments: { nodes: page, pageInfo: { hasNextPage: true, endCursor: 'next' } },
  paymentCreate: { ...created, bank: null, bankRef: null, failureCode: null, failureMessage: null },
  payment,
  apiKeyHolder: holder,
};

/** What a payment shows of a hold that it does not have. */
const unheld = {
  capture: () => 'automatic',
  amountCapturable: () => 0n,
  amountCaptured: () => 0n,
};

const resolverOf = (field: string) => async (): Promise<object> => {
  const answer = answers[field];
  if (!answer) throw new Error(`${field} is not measured`);
  return answer;
};

/** The executable schema of a subgraph that knows no database. */
export const constantSchema = (name: SubgraphName): GraphQLSchema => {
  const sdl = readSubgraphSdl(name);
  const rootFields = sdl.definitions.flatMap((definition) =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION &&
    ['Query', 'Mutation'].includes(definition.name.value)
      ? [
          [
            definition.name.value,
            Object.fromEntries(
              (definition.fields ?? []).map((field) => [
                field.name.value,
                resolverOf(field.name.value),
              ]),
            ),
          ],
        ]
      : [],
  );
  const shop = (of: Payment): object => ({ merchantId, id: of.shopId });
  const own =
    name === 'payments'
      ? { Payment: { ...unheld, refunds: async () => [], net: () => null, shop } }
      : {};
  const loaderOf = (type: string): EntityLoader =>
    type === 'Shop' ? async (references) => references.map(({ id }) => shopOf(id)) : async () => [];
  const entities = Object.fromEntries(
    resolvableEntities(sdl).map((type) => [type, loaderOf(type)]),
  );
  return buildSubgraph({
    name,
    resolvers: { ...Object.fromEntries(rootFields), ...own },
    areMerchants: async () => true,
    entities,
  });
};

// Nothing here is in a database.
const contextOf = (call: Call): SubgraphContext => ({ ...call, now: () => payment.createdAt });

/** Such a subgraph in this process. */
export const constantExecutor = (name: SubgraphName): SubgraphExecutor =>
  localExecutor(constantSchema(name), contextOf, silent);

/** The supergraph over such subgraphs, or over others. */
export const openConstantGraph = (
  executorOf: (name: SubgraphName) => SubgraphExecutor = constantExecutor,
): Promise<Supergraph> => {
  // Every name is there: the list is that of the type.
  const executors = Object.fromEntries(
    subgraphNames.map((name) => [name, executorOf(name)]),
  ) as Record<SubgraphName, SubgraphExecutor>;
  return openSupergraph({ supergraphSdl, executors, log: silent });
};
