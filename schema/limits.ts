/** Limits that the service enforces and that the console states in its forms; the date of the API. */

/** Characters of a reason for a change of policy, an erasure or a resolved alert. */
export const policyReason_max_chars = 500;
/** Characters of a reason with a refund, a draft, or a change of a subscription. */
export const reason_max_chars = 1_000;
/** Above this total of a payment, 10,000.00, people must give a reason for a refund. */
export const refundReasonAbove_minor = 1_000_000;
export const note_max_chars = 2_000;
/** Characters of the name of a merchant, a shop or a key. */
export const cabinetName_max_chars = 200;
export const viewName_max_chars = 80;
/** Characters of the name of a payout's recipient. */
export const recipientName_max_chars = 255;
export const linkLifetime_max_days = 365;
/** How long a webhook's old secret signs beside the new one. */
export const secretOverlap_max_h = 24;
/** A merchant's rate limit, unless it has its own, and the limits of its own. */
export const ratePerSecond_default = 50;
export const rateBurst_default = 100;
export const ratePerSecond_max = 10_000;
export const rateBurst_max = 100_000;
/** The date of the API (docs/contract.md#version). */
export const apiVersion = '2026-05-06';
