/**
 * Free texts in the graph. Whoever wrote one gets it back as it was sent: a key its own merchant's,
 * a buyer what the shop wrote to them. To people at a console, operators and cabinet users, a card
 * number in it is shown by its last 4 digits. The message of a refusal is masked for everybody
 * (D-06).
 */
import { defaultFieldResolver, isObjectType, type GraphQLSchema } from 'graphql';
import { maskedDeeply } from '../rules/card-in-text.ts';
import type { SubgraphContext } from './graph/subgraph.ts';

/** The fields that hold them, by type: a test holds the list against every text of the schema. */
export const freeTexts: Readonly<Record<string, readonly string[]>> = {
  Payment: ['orderId', 'returnUrl', 'description', 'metadata', 'customerCardHolder'],
  PaymentLink: ['description', 'metadata', 'orderId', 'returnUrl'],
  Receipt: ['failureReason'],
  ReceiptItem: ['description', 'markCode'],
  Refund: ['reason'],
  PayoutRecipient: ['fullName'],
  PayoutDraft: ['reason', 'rejectReason'],
  PayoutDraftRecipient: ['fullName'],
  PayoutDraftRefusal: ['message'],
  PayoutBatchItem: ['error'],
  Token: ['customerRef', 'cardHolder'],
  BillingSubscription: ['customerRef', 'planName', 'cancelReason'],
  SubscriptionTerms: ['planName'],
  Merchant: ['name'],
  Shop: ['name', 'terminalName'],
  ShopBalance: ['shopName'],
  WebhookEndpoint: ['url'],
  WebhookDelivery: ['url'],
  WebhookFailure: ['url'],
  WebhookRequest: ['body'],
  WebhookAttempt: ['error', 'responseHead'],
  WebhookEndpointTested: ['error', 'responseHead'],
  SavedView: ['name', 'search'],
  LoggedEvent: ['data'],
  LedgerEntry: ['description'],
  AuditEntry: ['before', 'after', 'requestId'],
  BlockEntry: ['reason'],
  ForbiddenPurpose: ['word', 'reason'],
  Alert: ['detail', 'note'],
  ReconciliationRun: ['reference'],
  ReconciliationDifference: ['reference', 'detail', 'note'],
  Refused: ['message'],
};

const masking = new WeakSet<object>();

/** Whether a field's resolver only masks what its object holds under the field's name. */
export const isFreeText = (field: object): boolean => masking.has(field);

/** Masks them in a subgraph's schema. */
export const maskFreeTexts = (schema: GraphQLSchema): void => {
  for (const [typeName, fields] of Object.entries(freeTexts)) {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) continue;
    for (const name of fields) {
      const field = type.getFields()[name];
      // A type of one subgraph may have fields of another.
      if (!field) continue;
      masking.add(field);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source, args, context: SubgraphContext, info) => {
        const text: unknown = resolve(source, args, context, info);
        if (context.principal.kind !== 'operator' && type.name !== 'Refused') return text;
        return text instanceof Promise ? text.then(maskedDeeply) : maskedDeeply(text);
      };
    }
  }
};
