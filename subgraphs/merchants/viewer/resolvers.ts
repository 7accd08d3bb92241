/** The person who calls. */
import type {
  QueryResolvers,
  Resolvers,
  Permission,
  ViewerPermission,
} from '../../../schema/generated/merchants.ts';
import { isUuid } from '../../rules/ids.ts';
import type { Database } from '../../platform/database/orm.ts';
import { refusal, access, accessRefusal } from '../../platform/access/access.ts';
import { loadMerchants } from '../find-merchants.ts';
import type { OperatorPrincipal } from '../../platform/access/principal.ts';

/*
 * People's permissions by role, derived from the access table. A test compares the list with it.
 */

/** Every value of the enum `Permission`, in its order. */
export const permissions = [
  'paymentCreate',
  'paymentCancel',
  'paymentCapture',
  'paymentNoteAdd',
  'refundCreate',
  'refundDraftCreate',
  'refundDraftApprove',
  'refundDraftReject',
  'receiptClose',
  'refundRetry',
  'receiptResend',
  'linkCreate',
  'linkDeactivate',
  'payoutDraftCreate',
  'payoutDraftApprove',
  'payoutDraftReject',
  'payoutDraftsApprove',
  'payoutDraftsReject',
  'payoutRecipientReveal',
  'sbpBanksRefresh',
  'subscriptionCancel',
  'subscriptionPause',
  'subscriptionResume',
  'tokenCancel',
  'alerts',
  'bankHealth',
  'reconciliationRuns',
  'reconciliationDifferences',
  'merchantCreate',
  'merchantOnboard',
  'merchantProfileSet',
  'merchantRateLimitSet',
  'merchantSupportRefundSet',
  'shopCreate',
  'apiKeyIssue',
  'apiKeyApprove',
  'apiKeyRevoke',
  'apiKeyRotate',
  'shopSignatureRequire',
  'shopSigningSecretRotate',
  'shopAllowListSet',
  'shopReceiptsRequire',
  'merchantRename',
  'merchantLiveEnable',
  'merchantLiveDisable',
  'shopRename',
  'shopWebhookSecretRotate',
  'webhookEndpointCreate',
  'webhookEndpointUpdate',
  'webhookEndpointDisable',
  'webhookEndpointEnable',
  'webhookEndpointDelete',
  'webhookEndpointSecretRotate',
  'webhookDeliveryResend',
  'webhookDeliveriesResendFailed',
  'webhookDeliveriesRetry',
  'forbiddenPurposes',
  'testClockCreate',
  'testClockAdvance',
  'testClockFreeze',
  'testClockResume',
  'testClockRemove',
  'rateSet',
  'bankAccountSet',
  'bankAccountRemove',
  'bankRouteSet',
  'bankRouteRemove',
  'blockEntryAdd',
  'blockEntryRemove',
  'forbiddenPurposeAdd',
  'forbiddenPurposeRemove',
  'exchangeRateSet',
  'settlementRecord',
  'adjustmentRecord',
  'reconciliationOpen',
  'reconciliationPartAdd',
  'reconciliationMatch',
  'reconciliationDifferenceResolve',
  'alertResolve',
  'alertAssignees',
  'alertAssign',
  'webhookEndpointTest',
  'savedViewSave',
  'savedViewDelete',
  'personSessionEnd',
  'personInvite',
  'personInvitationWithdraw',
  'bankAskAgain',
  'personalDataErase',
] as const satisfies readonly Permission[];

const rootFields = permissions.map((name) => {
  const coordinate = [`Mutation.${name}`, `Query.${name}`].find((field) => access[field]);
  const row = coordinate === undefined ? undefined : access[coordinate];
  if (coordinate === undefined || !row?.operator) throw new Error(`${name} is not for people`);
  return { name, coordinate, leastRole: row.operator, platformOnly: row.platform === true };
});

/** Every permission, with whether the person has it. */
const permissionsOf = (principal: OperatorPrincipal): ViewerPermission[] =>
  rootFields.map(({ coordinate, ...permission }) => ({
    ...permission,
    granted: accessRefusal(coordinate, principal) === null,
  }));

export const viewerQueries = {
  viewer: (_, __, { principal }) => {
    if (principal.kind !== 'operator') throw refusal('scope_required', 'the viewer is a person');
    return principal;
  },
} satisfies QueryResolvers;

/** Fields derived from the person's identity. */
export const viewerFields = ({
  database,
  issuer,
}: {
  readonly database: Pick<Database, 'emOf'>;
  readonly issuer: string | null;
}) =>
  ({
    Viewer: {
      issuer: () => issuer,
      merchant: async ({ merchantId }, _, context) => {
        // A token may name something that does not exist.
        if (merchantId === null || !isUuid(merchantId)) return null;
        const [merchant] = await loadMerchants(database.emOf(context), [merchantId]);
        return merchant ?? null;
      },
      permissions: permissionsOf,
    },
  }) satisfies Resolvers;
