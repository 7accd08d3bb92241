/** `refund.status_changed`: a refund that the bank declined, in the graph's subscriptions. */
import { ahead, all, behind, instead, load, tests, types, type Walk } from './walk.ts';

const subscriptions = tests('test/gateway/subscriptions.test.ts', 'own kind, and the union');
const schema = tests('test/tidy/schema.test.ts');

export const addEventKind: Walk = {
  section: 'Add an event kind',
  steps: [
    {
      named: 'subgraphs/kernel/rules/event.ts',
      path: 'subgraphs/kernel/rules/event.ts',
      edit: instead(
        "[...streamKinds, 'subscription.status_changed']",
        "[...streamKinds, 'refund.status_changed', 'subscription.status_changed']",
      ),
      missedBy: schema,
    },
    {
      named: 'schema/merchants.graphql',
      path: 'schema/merchants.graphql',
      edit: all(
        instead(
          '  refund_created\n  subscription_status_changed\n',
          '  refund_created\n  refund_status_changed\n  subscription_status_changed\n',
        ),
        ahead(
          '"A key as it is shown once."\n',
          `"A refund was declined."
type RefundStatusChangedEvent implements LiveEvent {
  id: ID!
  kind: LiveEventKind!
  at: DateTime!
  merchantId: ID!
  shopId: ID!
  mode: Mode!
  payload: JSONObject!
  "The refund as it is now."
  refund: Refund!
}

`,
        ),
        ahead(
          '  "All kinds that the caller may subscribe to, or those asked for."\n',
          `  "\`after\` and the reach are those of paymentCreated."
  refundStatusChanged(merchantId: ID, after: ID): RefundStatusChangedEvent!
`,
        ),
      ),
      generated: true,
      missedBy: schema,
    },
    {
      named: 'subgraphs/kernel/service/access/access.ts',
      path: 'subgraphs/kernel/service/access/access.ts',
      edit: behind(
        "  'Subscription.refundCreated': { key: free, operator: 'viewer' },\n",
        "  'Subscription.refundStatusChanged': { key: free, operator: 'viewer' },\n",
      ),
      missedBy: schema,
    },
    {
      named: 'subgraphs/merchants/resolvers.ts',
      path: 'subgraphs/merchants/resolvers.ts',
      edit: behind(
        '  RefundCreatedEvent: { ...eventFields, refund: subject },\n',
        '  RefundStatusChangedEvent: { ...eventFields, refund: subject },\n',
      ),
      missedBy: types,
    },
    {
      named: 'subgraphs/<subgraph>/<feature>/events.ts',
      path: 'subgraphs/payments/refunds/events.ts',
      edit: ahead(
        '/**\n * A refund succeeded:',
        `/** A refund was declined: published in the graph alone. */
export const refundStatusChanged = (
  { merchantId, shopId, mode, id, amount, status }: Refund,
  at: Temporal.Instant,
): OutboxEvent => ({
  merchantId,
  shopId,
  mode,
  subjectId: id,
  stream: { kind: 'refund.status_changed', payload: { id, amount: Number(amount), status } },
  webhook: null,
  at,
});

`,
      ),
      missedBy: load('subgraphs/payments/resolvers.ts'),
    },
    {
      named: 'subgraphs/<subgraph>/<feature>/<verb>.ts',
      path: 'subgraphs/payments/refunds/apply-refund-answer.ts',
      edit: all(
        instead(
          "import { refundedEvents } from './events.ts';",
          "import { refundStatusChanged, refundedEvents } from './events.ts';",
        ),
        instead(
          `  return {
    row: { ...before, status, failReason, completedAt: now, askAt: null },
    postings: failed({ amount: minorUnits(before.amount) }),
  };`,
          `  const row: Refund = { ...before, status, failReason, completedAt: now, askAt: null };
  return {
    row,
    postings: failed({ amount: minorUnits(before.amount) }),
    events: () => [refundStatusChanged(row, now)],
  };`,
        ),
      ),
      missedBy: tests('test/tidy/imports.test.ts'),
    },
    {
      named: 'test/gateway/subscriptions.test.ts',
      path: 'test/gateway/subscriptions.test.ts',
      edit: all(
        instead(
          "      'refundCreated',\n      'subscriptionStatusChanged',\n    ] as const;",
          "      'refundCreated',\n      'refundStatusChanged',\n      'subscriptionStatusChanged',\n    ] as const;",
        ),
        instead(
          "      'refund_created',\n      'subscription_status_changed',\n    ];",
          "      'refund_created',\n      'refund_status_changed',\n      'subscription_status_changed',\n    ];",
        ),
      ),
      missedBy: subscriptions,
    },
    {
      named: 'test/security/free-texts.test.ts',
      path: 'test/security/free-texts.test.ts',
      edit: behind("  'RefundCreated',\n", "  'RefundStatusChanged',\n"),
      missedBy: tests('test/security/free-texts.test.ts', '^every text of the graph'),
    },
  ],
  tests: [],
};
