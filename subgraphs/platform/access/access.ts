/**
 * The callers of each operation: one row for every root field of the supergraph. A REST route takes
 * its scopes from the field behind it. A test fails on a root field without a row.
 */
import { GraphQLError } from 'graphql';
import { isUuid } from '../../rules/ids.ts';
import { isRefusal, type RefusalCode, type Refusal } from '../../rules/refusal.ts';
import type { Principal, Role, Scope, KeyPrincipal } from './principal.ts';

export interface Access {
  /**
   * Scopes that a merchant's key needs: all of them, or any one; absent when keys may not call it.
   */
  readonly key?: { readonly allOf: readonly Scope[] } | { readonly anyOf: readonly Scope[] };
  /**
   * The minimum operator role; absent when operators may not. Roles ascend: viewer, support,
   * finance, admin.
   */
  readonly operator?: Role;
  /**
   * Whether it is limited to the platform's own operators, without cabinet users, who are limited
   * to a merchant.
   */
  readonly platform?: true;
  /** Whether a buyer on the hosted page may. */
  readonly buyer?: true;
  /** Whether processes of the edge may, on their own behalf. */
  readonly edge?: true;
  /** Whether other roles of this service that work on the record may. */
  readonly service?: true;
}

const free = { allOf: [] } as const;
const reports = { allOf: ['api:reports:read'] } as const;
const eitherRecurrent = { anyOf: ['api:recurrent:bind', 'api:recurrent:charge'] } as const;
/** The scope that a key needs for each method of payouts (docs/contract.md#scopes). */
export const payoutScopes = {
  payouts_sbp: 'api:payouts:sbp',
  payouts_card: 'api:payouts:card',
  payouts_account: 'api:payouts:account',
} as const satisfies Readonly<Record<string, Scope>>;
const anyPayout = { anyOf: Object.values(payoutScopes) } as const;

export const access: Readonly<Record<string, Access>> = {
  'Query.payment': { key: free, operator: 'viewer', service: true },
  'Query.payments': { key: reports, operator: 'viewer' },
  'Query.paymentSearch': { key: reports, operator: 'viewer' },
  'Query.refunds': { key: reports, operator: 'viewer' },
  'Query.receipt': { key: reports, operator: 'viewer' },
  'Query.receipts': { key: reports, operator: 'viewer' },
  'Query.paymentLink': { key: free, operator: 'viewer' },
  'Query.paymentLinks': { key: reports, operator: 'viewer' },
  'Query.linkPage': { edge: true },
  'Query.checkout': { buyer: true },
  // A person makes test payments alone.
  'Mutation.paymentCreate': { key: free, operator: 'support' },
  'Mutation.paymentCancel': { key: free, operator: 'support' },
  'Mutation.paymentCapture': { key: free, operator: 'finance' },
  'Mutation.paymentNoteAdd': { operator: 'support' },
  // Support refunds up to the amount that its merchant sets, and proposes more.
  'Mutation.refundCreate': { key: free, operator: 'support' },
  'Query.refundDraft': { operator: 'viewer' },
  'Query.refundDrafts': { operator: 'viewer' },
  'Mutation.refundDraftCreate': { operator: 'support' },
  'Mutation.refundDraftApprove': { operator: 'finance' },
  // Support withdraws its own.
  'Mutation.refundDraftReject': { operator: 'support' },
  'Mutation.receiptClose': { key: free, operator: 'finance' },
  'Mutation.refundRetry': { operator: 'finance', platform: true },
  'Mutation.receiptResend': { operator: 'finance' },
  'Mutation.linkCreate': { key: free, operator: 'support' },
  'Mutation.linkDeactivate': { key: free, operator: 'support' },
  'Mutation.linkPay': { edge: true },
  'Query.recurringPayments': { service: true },
  'Mutation.bankPaymentAsk': { edge: true },
  'Mutation.bankReceiptRecord': { edge: true },
  'Mutation.recurringPaymentCreate': { service: true },
  'Mutation.recurringPaymentCancel': { service: true },
  'Mutation.checkoutMethodChoose': { buyer: true },
  'Mutation.checkoutPay': { buyer: true },
  'Mutation.checkoutOutcomePlan': { buyer: true },
  'Mutation.checkoutSimulatorConfirm': { buyer: true },

  'Query.payout': { key: free, operator: 'viewer' },
  'Query.payouts': { key: reports, operator: 'viewer' },
  'Query.payoutSearch': { key: reports, operator: 'viewer' },
  'Query.sbpBanks': { key: free, operator: 'viewer' },
  // The scope of the payout's own method is checked in the operation, where the method is known.
  'Mutation.payoutCreate': { key: anyPayout },
  'Mutation.payoutBatchCreate': { key: anyPayout },
  'Query.paidRecipients': { operator: 'viewer' },
  'Query.payoutQuote': { operator: 'viewer' },
  'Query.payoutDraft': { operator: 'viewer' },
  'Query.payoutDrafts': { operator: 'viewer' },
  // Of the two people, one may have the finance role and the other may be an administrator.
  'Mutation.payoutDraftCreate': { operator: 'finance' },
  'Mutation.payoutDraftApprove': { operator: 'finance' },
  'Mutation.payoutDraftReject': { operator: 'finance' },
  'Mutation.payoutDraftsApprove': { operator: 'finance' },
  'Mutation.payoutDraftsReject': { operator: 'finance' },
  // Each use of it is in the audit log.
  'Mutation.payoutRecipientReveal': { operator: 'finance' },
  'Mutation.bankPayoutAsk': { edge: true },
  'Mutation.sbpBanksRefresh': { operator: 'admin', platform: true },

  'Query.billingSubscription': { key: eitherRecurrent, operator: 'viewer' },
  'Query.billingSubscriptions': { key: eitherRecurrent, operator: 'viewer' },
  'Query.billingSubscriptionsConnection': { key: eitherRecurrent, operator: 'viewer' },
  'Query.tokensConnection': { key: eitherRecurrent, operator: 'viewer' },
  'Query.tokens': { key: eitherRecurrent, operator: 'viewer' },
  'Mutation.subscriptionCreate': { key: { allOf: ['api:recurrent:bind', 'api:recurrent:charge'] } },
  'Mutation.subscriptionCancel': { key: eitherRecurrent, operator: 'support' },
  'Mutation.subscriptionPause': { operator: 'support' },
  'Mutation.subscriptionResume': { operator: 'support' },
  'Mutation.tokenCreate': { key: { allOf: ['api:recurrent:bind'] } },
  'Mutation.tokenCharge': { key: { allOf: ['api:recurrent:charge'] } },
  'Mutation.tokenCancel': { key: eitherRecurrent, operator: 'support' },

  'Query.customerPage': { edge: true },
  'Mutation.customerSessionCreate': { key: { allOf: ['api:recurrent:bind'] } },
  'Mutation.customerTokenCancel': { edge: true },
  'Mutation.customerSubscriptionCancel': { edge: true },

  'Query.viewer': { operator: 'viewer' },
  'Query.search': { operator: 'viewer' },
  'Query.merchant': { key: free, operator: 'viewer' },
  'Query.merchants': { operator: 'viewer' },
  'Query.shop': { key: free, operator: 'viewer' },
  'Query.webhookDeliveries': { operator: 'viewer' },
  'Query.webhookDelivery': { operator: 'viewer' },
  'Query.webhookFailures': { operator: 'viewer' },
  'Query.eventLog': { key: reports, operator: 'viewer' },
  'Query.loggedEvent': { key: reports, operator: 'viewer' },
  'Query.apiRequests': { key: reports, operator: 'viewer' },
  'Query.apiRequest': { key: reports, operator: 'viewer' },
  'Query.apiKeys': { operator: 'viewer' },
  'Query.auditLog': { operator: 'viewer' },
  'Query.alerts': { operator: 'viewer', platform: true },
  'Query.alertAssignees': { operator: 'viewer', platform: true },
  'Query.bankHealth': { operator: 'viewer', platform: true },
  'Query.savedViews': { operator: 'viewer' },
  'Query.personSessions': { operator: 'admin' },
  'Query.personInvitations': { operator: 'admin' },
  'Query.reconciliationRuns': { operator: 'viewer', platform: true },
  'Query.reconciliationDifferences': { operator: 'viewer', platform: true },
  'Query.balance': { key: { allOf: ['api:balance:read'] }, operator: 'viewer' },
  'Query.rates': { key: reports },
  'Query.balanceAt': { operator: 'viewer' },
  'Query.closing': { operator: 'viewer' },
  'Query.ledger': { key: reports, operator: 'viewer' },
  'Query.ledgerFile': { key: reports },
  'Query.apiKeyHolder': { edge: true },
  'Query.consoleSession': { edge: true },
  'Query.liveEvent': { key: free, operator: 'viewer', buyer: true },
  'Query.liveEventsAfter': { edge: true },
  'Mutation.merchantCreate': { operator: 'admin', platform: true },
  'Mutation.merchantOnboard': { operator: 'admin', platform: true },
  'Mutation.merchantRateLimitSet': { operator: 'admin', platform: true },
  // Buyers rely on the legal name; the platform checks it.
  'Mutation.merchantProfileSet': { operator: 'admin', platform: true },
  'Mutation.merchantSupportRefundSet': { operator: 'admin' },
  'Mutation.shopCreate': { operator: 'admin' },
  'Mutation.apiKeyIssue': { operator: 'admin' },
  // The approver of a payout may approve a key that makes payouts.
  'Mutation.apiKeyApprove': { operator: 'finance' },
  'Mutation.apiKeyRevoke': { operator: 'admin' },
  'Mutation.apiKeyRotate': { operator: 'admin' },
  'Mutation.apiKeyUseNote': { edge: true },
  'Mutation.apiRequestsNote': { edge: true },
  'Mutation.consoleSessionOpen': { edge: true },
  'Mutation.consoleSessionUseNote': { edge: true },
  'Mutation.consoleSessionEnd': { edge: true },
  'Mutation.consoleLinkMake': { edge: true },
  'Mutation.consoleLinkUse': { edge: true },
  'Mutation.shopSignatureRequire': { operator: 'admin' },
  'Mutation.shopSigningSecretRotate': { operator: 'admin' },
  'Mutation.shopAllowListSet': { operator: 'admin' },
  'Mutation.shopReceiptsRequire': { operator: 'admin' },
  'Mutation.merchantRename': { operator: 'admin', platform: true },
  'Mutation.merchantLiveEnable': { operator: 'admin', platform: true },
  'Mutation.merchantLiveDisable': { operator: 'admin', platform: true },
  'Mutation.shopRename': { operator: 'admin' },
  'Mutation.shopWebhookSecretRotate': { operator: 'admin' },
  'Mutation.webhookEndpointCreate': { operator: 'admin' },
  'Mutation.webhookEndpointUpdate': { operator: 'admin' },
  'Mutation.webhookEndpointDisable': { operator: 'admin' },
  'Mutation.webhookEndpointEnable': { operator: 'admin' },
  'Mutation.webhookEndpointDelete': { operator: 'admin' },
  'Mutation.webhookEndpointSecretRotate': { operator: 'admin' },
  // It changes nothing but that a receiver gets the event again.
  'Mutation.webhookDeliveryResend': { operator: 'support' },
  'Mutation.webhookDeliveriesResendFailed': { operator: 'support' },
  'Mutation.webhookDeliveriesRetry': { operator: 'support' },
  'Query.testClock': { key: free, operator: 'viewer' },
  'Query.totals': { key: reports, operator: 'viewer' },
  'Query.rateHistory': { operator: 'viewer' },
  'Query.bankRoutes': { operator: 'viewer' },
  'Query.bankAccounts': { operator: 'viewer' },
  'Query.blockEntries': { operator: 'viewer' },
  'Query.forbiddenPurposes': { operator: 'viewer', platform: true },
  'Query.exchangeRates': { operator: 'viewer' },
  // They move no money but the simulator's.
  'Mutation.testClockCreate': { operator: 'support' },
  'Mutation.testClockAdvance': { operator: 'support' },
  'Mutation.testClockFreeze': { operator: 'support' },
  'Mutation.testClockResume': { operator: 'support' },
  'Mutation.testClockRemove': { operator: 'support' },
  'Mutation.rateSet': { operator: 'finance', platform: true },
  'Mutation.bankAccountSet': { operator: 'admin', platform: true },
  'Mutation.bankAccountRemove': { operator: 'admin', platform: true },
  'Mutation.bankRouteSet': { operator: 'admin', platform: true },
  'Mutation.bankRouteRemove': { operator: 'admin', platform: true },
  // A cabinet user may block on its own merchant's list: the audited change refuses other lists.
  'Mutation.blockEntryAdd': { operator: 'support' },
  'Mutation.blockEntryRemove': { operator: 'admin' },
  'Mutation.forbiddenPurposeAdd': { operator: 'admin', platform: true },
  'Mutation.forbiddenPurposeRemove': { operator: 'admin', platform: true },
  'Mutation.exchangeRateSet': { operator: 'finance', platform: true },
  'Mutation.settlementRecord': { operator: 'finance', platform: true },
  'Mutation.adjustmentRecord': { operator: 'finance', platform: true },
  'Mutation.reconciliationOpen': { operator: 'finance', platform: true },
  'Mutation.reconciliationPartAdd': { operator: 'finance', platform: true },
  'Mutation.reconciliationMatch': { operator: 'finance', platform: true },
  'Mutation.reconciliationDifferenceResolve': { operator: 'finance', platform: true },
  'Mutation.alertResolve': { operator: 'finance', platform: true },
  'Mutation.alertAssign': { operator: 'support', platform: true },
  // It reaches the merchant's own receiver alone, and seldom.
  'Mutation.webhookEndpointTest': { operator: 'support' },
  // A person's own.
  'Mutation.savedViewSave': { operator: 'viewer' },
  'Mutation.savedViewDelete': { operator: 'viewer' },
  'Mutation.personSessionEnd': { operator: 'admin' },
  'Mutation.personInvite': { operator: 'admin' },
  'Mutation.personInvitationWithdraw': { operator: 'admin' },
  'Mutation.bankAskAgain': { operator: 'finance', platform: true },
  'Mutation.personalDataErase': { operator: 'admin' },
  // Never on the stream of merchants.
  'Subscription.alertRaised': { operator: 'viewer', platform: true },
  'Subscription.listsChanged': { operator: 'viewer' },
  'Subscription.paymentCreated': { key: free, operator: 'viewer' },
  'Subscription.paymentStatusChanged': { key: free, operator: 'viewer' },
  'Subscription.payoutCreated': { key: free, operator: 'viewer' },
  'Subscription.payoutStatusChanged': { key: free, operator: 'viewer' },
  'Subscription.refundCreated': { key: free, operator: 'viewer' },
  'Subscription.subscriptionStatusChanged': { key: eitherRecurrent, operator: 'viewer' },
  'Subscription.events': { key: free, operator: 'viewer', buyer: true },
};

/** Fields below the root that ask for more than the root fields on the way to them. */
export const accessBelowRoot: Readonly<Record<string, Access>> = {
  // The addresses of endpoints, and what answered there.
  'Payment.webhookDeliveries': { key: reports, operator: 'viewer' },
  // What the registry of receipts has.
  'Payment.receipts': { key: reports, operator: 'viewer' },
  'Shop.effectiveRates': { key: reports, operator: 'viewer' },
  // Whole bodies, as the event log has them.
  'WebhookDelivery.request': { key: reports, operator: 'viewer' },
  // What people did, and what banks answered.
  'Payment.timeline': { operator: 'viewer' },
  'Payment.notes': { operator: 'viewer' },
  // What a stolen key must not reveal.
  'Shop.allowList': { operator: 'viewer' },
  'Shop.apiKeys': { operator: 'viewer' },
  'Shop.webhookEndpoints': { operator: 'viewer' },
};

const rank: Record<Role, number> = { viewer: 0, support: 1, finance: 2, admin: 3 };

/**
 * Whether the caller may call the field: null when it may, else a text that names what is missing.
 */
export const accessRefusal = (field: string, principal: Principal): string | null => {
  const row = access[field] ?? accessBelowRoot[field];
  if (!row) throw new Error(`no access row for ${field}`);
  switch (principal.kind) {
    case 'key': {
      if (!row.key) return 'this operation is not for API keys';
      if ('allOf' in row.key) {
        const missing = row.key.allOf.filter((scope) => !principal.scopes.includes(scope));
        return missing.length === 0 ? null : `the key lacks the scope ${missing.join(', ')}`;
      }
      return row.key.anyOf.some((scope) => principal.scopes.includes(scope))
        ? null
        : `the key needs one of the scopes ${row.key.anyOf.join(', ')}`;
    }
    case 'operator':
      if (!row.operator) return 'this operation is not for operators';
      if (row.platform && principal.merchantId !== null)
        return "this operation is for the platform's operators";
      return rank[principal.role] >= rank[row.operator]
        ? null
        : `this operation needs the role ${row.operator}`;
    case 'buyer':
      return row.buyer ? null : 'this operation is not for buyers';
    case 'edge':
      return row.edge ? null : 'this operation is not for the edge';
    case 'service':
      return row.service ? null : 'this operation is not for services';
  }
};

// The data that a caller may read: a key its shop and its mode, an operator a merchant's.

/** A refusal of a query, where no union has a place for it: an error with its code. */
export const refusal = (code: RefusalCode, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

/** Throws the refusal as a query's error, else returns the result. */
export const orThrow = <Result extends object>(result: Result | Refusal): Result => {
  if (isRefusal(result)) throw refusal(result.code, result.message);
  return result;
};

/** The result as a member of a union, tagged with its type name. A refusal stays as it is. */
export const asType = <Name extends string, Result extends object>(
  __typename: Name,
  result: Result | Refusal,
): (Result & { readonly __typename: Name }) | Refusal =>
  isRefusal(result) ? result : { ...result, __typename };

/** A mutation that is a verb alone: it has the call's arguments, and its result is of this type. */
export const byVerb =
  <Name extends string, Deps, Acting, Input, Result extends object>(
    type: Name,
    verb: (deps: Deps, acting: Acting, input: Input) => Promise<Result | Refusal>,
    deps: Deps,
  ) =>
  async (_: unknown, input: Input, acting: Acting) =>
    asType(type, await verb(deps, acting, input));

/** The calling key. Access rows refuse other callers; this only narrows the type. */
export const keyOf = (principal: Principal): KeyPrincipal => {
  if (principal.kind !== 'key') throw refusal('scope_required', 'this operation is for API keys');
  return principal;
};

/** The call's merchant: a key's own, or the one that an operator names. */
export const merchantOf = (principal: Principal, named: string | null | undefined): string => {
  switch (principal.kind) {
    case 'key':
    case 'buyer':
      return principal.merchantId;
    case 'operator': {
      const merchantId = principal.merchantId ?? named;
      if (!merchantId) throw refusal('bad_request', 'merchantId: required');
      if (!isUuid(merchantId) || (named && merchantId !== named))
        throw refusal('not_found', 'there is no such merchant');
      return merchantId;
    }
    case 'service':
    case 'edge':
      if (!named) throw refusal('bad_request', 'merchantId: required');
      return named;
  }
};

/** Whether the call is of all merchants: an operator of the platform names none. */
export const isOfAll = (principal: Principal, merchantId: string | null | undefined): boolean =>
  principal.kind === 'operator' && principal.merchantId === null && !merchantId;

/** The call's merchant; null: all of them. */
export const anyMerchantOf = (
  principal: Principal,
  merchantId: string | null | undefined,
): string | null => (isOfAll(principal, merchantId) ? null : merchantOf(principal, merchantId));
