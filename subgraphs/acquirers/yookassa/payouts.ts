/**
 * Payouts at YooKassa, by SBP and to cards; it cannot pay to accounts. YooKassa keeps idempotency
 * keys for a day, so an older order is queried and never sent again.
 */
import { bodyOf, unknown } from '../bank-http.ts';
import type {
  PayoutAnswer,
  PayoutBank,
  PayoutOrder,
  PayoutOrderAnswer,
  PayoutQuestion,
} from '../payout-bank.ts';
import {
  wireAmount,
  readId,
  readPage,
  readPayout,
  readSbpBank,
  type WirePayout,
  payoutFailure,
  type CheckEcho,
} from './wire.ts';
import type { Account } from '../bank-accounts.ts';
import { askEach, holderOf, type Caller, type ApiAnswer, type Client } from './client.ts';
import { findListed, get, isAboutUs, metadataOf } from './payment-answers.ts';

interface PayoutCalls {
  readonly client: Client;
  /** Its gateway of payouts. */
  readonly shop: Account;
  readonly checkEcho: CheckEcho;
}

const askEvery_s = 30;
/** Less than the day for which a key is remembered. */
const keyKept_h = 23;

const standing = async (
  { checkEcho }: PayoutCalls,
  expected: PayoutQuestion,
  payout: WirePayout | null,
): Promise<PayoutAnswer> => {
  if (!payout) return unknown;
  const reference = payout.id;
  if (!(await checkEcho(expected, payout))) return { kind: 'pending', reference, askAt: null };
  switch (payout.status) {
    case 'succeeded':
      return { kind: 'approved', reference };
    case 'pending':
      return { kind: 'pending', reference, askAt: expected.now.add({ seconds: askEvery_s }) };
    case 'canceled':
      return {
        kind: 'declined',
        failureCode: payoutFailure(payout.cancellation_details),
        reference,
      };
  }
};

const notOrdered = (answer: ApiAnswer & { kind: 'rejected' }): PayoutOrderAnswer => {
  const { parameter, isCertain } = answer;
  // It says nothing of an order that was accepted before.
  if (isAboutUs(answer)) return isCertain ? { kind: 'unaccepted' } : unknown;
  if (parameter?.includes('bank_id')) return { kind: 'misrouted' };
  const failureCode = parameter?.startsWith('amount')
    ? 'payout_limit_exceeded'
    : parameter?.includes('card')
      ? 'invalid_card_number'
      : 'processing_error';
  return { kind: 'declined', failureCode, reference: null };
};

/** A full name as its three parts: surname, name, patronymic. Null: it cannot be split. */
const namesOf = (fullName: string) => {
  const [last, first, ...middle] = fullName.trim().split(/\s+/);
  if (!last || !first) return null;
  return {
    last_name: last,
    first_name: first,
    ...(middle.length > 0 ? { middle_name: middle.join(' ') } : {}),
  };
};

/**
 * Stores who receives an SBP payout, and gives the id; null without a name; else why the payout
 * cannot go on.
 */
const personalData = async (
  { client, shop: account }: PayoutCalls,
  order: PayoutOrder,
): Promise<string | null | PayoutOrderAnswer> => {
  const names =
    order.recipient.way === 'sbp' && order.recipient.fullName
      ? namesOf(order.recipient.fullName)
      : null;
  if (!names) return null;
  const body = { type: 'sbp_payout_recipient', ...names };
  const post = { key: `${order.operationId}-name`, body };
  const { signal } = order;
  const answer = await client.call({ account, path: '/personal_data', post, signal });
  if (answer.kind === 'unreached') return { kind: 'unaccepted' };
  if (answer.kind === 'rejected')
    return answer.status === 400
      ? { kind: 'declined', failureCode: 'recipient_check_failed', reference: null }
      : unknown;
  return readId(bodyOf(answer)) ?? unknown;
};

const destinationOf = ({ recipient }: PayoutOrder) => {
  switch (recipient.way) {
    case 'sbp':
      return { type: 'sbp', phone: recipient.phone.replace('+', ''), bank_id: recipient.bankId };
    case 'card':
      return { type: 'bank_card', card: { number: recipient.cardNumber } };
    case 'account':
      return null;
  }
};

const search = async (calls: PayoutCalls, expected: PayoutQuestion): Promise<PayoutAnswer> => {
  const { operationId } = expected;
  const query = { 'metadata[operation_id]': operationId };
  const list = { path: '/payouts/search', query, pages_max: 1 };
  const found = await findListed(calls, list, readPayout, operationId);
  if (found && 'kind' in found) return unknown;
  return found ? standing(calls, expected, found) : { kind: 'unseen' };
};

const pay = async (calls: PayoutCalls, order: PayoutOrder): Promise<PayoutOrderAnswer> => {
  const expected = { ...order, reference: null };
  if (Temporal.Instant.compare(order.sentAt.add({ hours: keyKept_h }), order.now) < 0)
    return search(calls, expected);
  const destination = destinationOf(order);
  if (!destination) return { kind: 'declined', failureCode: 'method_unavailable', reference: null };
  const personal = await personalData(calls, order);
  if (typeof personal === 'object' && personal !== null) return personal;
  const body = {
    amount: wireAmount(order.amount, order.currency),
    payout_destination_data: destination,
    metadata: metadataOf(order, 'payout'),
    ...(personal === null ? {} : { personal_data: [{ id: personal }] }),
  };
  const answer = await calls.client.call({
    account: calls.shop,
    path: '/payouts',
    post: { key: order.operationId, body },
    signal: order.signal,
  });
  if (answer.kind === 'unreached') return { kind: 'unaccepted' };
  if (answer.kind === 'rejected') return notOrdered(answer);
  return standing(calls, expected, readPayout(bodyOf(answer)));
};

const askPayout = async (calls: PayoutCalls, question: PayoutQuestion): Promise<PayoutAnswer> => {
  if (question.reference === null) return search(calls, question);
  const answer = await get(calls, `/payouts/${question.reference}`);
  return standing(calls, question, readPayout(bodyOf(answer)));
};

/** The bank's list of SBP's participants, when the platform has an account to ask with. */
const directoryOf = (client: Client, gateway: Account | null): Pick<PayoutBank, 'listSbpBanks'> => {
  if (!gateway) return {};
  return {
    listSbpBanks: async (signal) => {
      const answer = await client.call({ account: gateway, path: '/sbp_banks', signal });
      const page = readPage(bodyOf(answer), readSbpBank);
      if (!page) throw new Error('YooKassa gave no list of SBP banks');
      return page.items;
    },
  };
};

type PayoutCaller = Caller & Pick<PayoutCalls, 'checkEcho'>;

/** The accounts that may have an order: those that were not retired before it went out. */
const mayHave = (
  accounts: readonly Account[],
  { sentAt }: Pick<PayoutQuestion, 'sentAt'>,
): readonly Account[] =>
  accounts.filter(
    ({ retiredAt }) => !retiredAt || Temporal.Instant.compare(retiredAt, sentAt) >= 0,
  );

/** Orders at the current account, when no other one of the merchant may have the order already. */
const payOnce = async (
  { accounts, ...caller }: PayoutCaller,
  order: PayoutOrder,
): Promise<PayoutOrderAnswer> => {
  const { current, all } = accounts;
  if (all.length === 0) return { kind: 'unaccepted' };
  const others = order.isFirst ? [] : mayHave(all, order).filter(({ id }) => id !== current?.id);
  const earlier = await askEach(others, 'unseen', (shop) =>
    search({ ...caller, shop }, { ...order, reference: null }),
  );
  if (others.length > 0 && earlier.kind !== 'unseen') return earlier;
  if (!current) return { kind: 'unaccepted' };
  return pay({ ...caller, shop: current }, order);
};

/**
 * The part of the port that pays out, by the merchant's gateway. The directory of SBP is read with
 * the platform's.
 */
export const yooKassaPayouts = (
  callerOf: (merchantId: string) => Promise<PayoutCaller>,
  client: Client,
  platform: Account | null,
): PayoutBank => ({
  payoutWays: ['sbp', 'card'],
  pay: async (order) => payOnce(await callerOf(order.merchantId), order),
  askPayout: async (question) => {
    const { accounts, ...caller } = await callerOf(question.merchantId);
    if (question.reference === null)
      return askEach(mayHave(accounts.all, question), 'unseen', (shop) =>
        askPayout({ ...caller, shop }, question),
      );
    const shop = await holderOf({ ...caller, accounts }, `/payouts/${question.reference}`);
    return shop ? askPayout({ ...caller, shop }, question) : unknown;
  },
  ...directoryOf(client, platform),
});
