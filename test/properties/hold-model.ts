/**
 * The tiny model of a two-step payment's life: what the contract's tables say, in numbers and
 * without any of the service's code. `payment-model` is that of a payment in one step.
 */

/** What a bank says of an order to capture or to release: done, refused, or nothing yet. */
export type Word = 'done' | 'refused' | 'silent';

/** One step of a history. What has `times` comes so often at once. */
export type HoldStep =
  | { readonly do: 'session' }
  | { readonly do: 'wait'; readonly minutes: number }
  /** What the bank says of the authorisation. */
  | {
      readonly do: 'bank';
      readonly says: 'holds' | 'declines' | 'released';
      readonly times: number;
    }
  /** `share` of the amount in hundredths; null: all. `word`: what the bank answers at once. */
  | { readonly do: 'capture'; readonly share: number | null; readonly word: Word }
  | { readonly do: 'cancel'; readonly word: Word }
  /** The open order, if there is one, is asked about. */
  | { readonly do: 'ask'; readonly word: Word; readonly times: number }
  | { readonly do: 'refund'; readonly share: number | null };

export interface HoldModel {
  readonly amount: bigint;
  readonly isLive: boolean;
  readonly status: string;
  readonly at_min: number;
  readonly session_min: number | null;
  readonly heldUntil_min: number | null;
  /** What the bank was ordered, its word not known. */
  readonly order: 'capture' | 'cancel' | 'end' | 'give_up' | null;
  /** What the order takes, or what was taken. */
  readonly captured: bigint;
  readonly refunded: bigint;
  readonly webhooks: readonly string[];
}

export const held_min = 40;
const linkTtl_min = 60;
const sessionTtl_min = 20;
/** The platform's rate of T-Pay; nothing is withheld from test payments. */
const rate_bps = 250n;

export const newHold = (amount: bigint, isLive: boolean): HoldModel => ({
  amount,
  isLive,
  status: 'pending',
  at_min: 0,
  session_min: null,
  heldUntil_min: null,
  order: null,
  captured: 0n,
  refunded: 0n,
  webhooks: [],
});

const ended = (model: HoldModel, status: string): HoldModel => ({
  ...model,
  status,
  order: null,
  webhooks: [...model.webhooks, `payment.${status}`],
});

/** What is asked of a capture or a refund: null is everything. */
export const shareOf = (amount: bigint, share: number | null): bigint | null =>
  share === null ? null : (amount * BigInt(share)) / 100n || 1n;

const afterWord = (model: HoldModel, word: Word): HoldModel => {
  if (model.order === null || word === 'silent') return model;
  if (model.order === 'capture')
    return word === 'done' ? ended(model, 'succeeded') : { ...model, order: null, captured: 0n };
  // A release that was refused is asked for again.
  if (word === 'refused') return model;
  if (model.order === 'give_up') return { ...model, order: null };
  return ended(model, model.order === 'cancel' ? 'cancelled' : 'expired');
};

const isHeld = ({ status, order }: HoldModel): boolean => status === 'authorized' && order === null;

/** Whether something may be ordered: not after its time, though no sweep has ended it yet. */
export const isOpen = (model: HoldModel): boolean =>
  isHeld(model) && (model.heldUntil_min === null || model.at_min < model.heldUntil_min);

const afterBank = (model: HoldModel, says: 'holds' | 'declines' | 'released'): HoldModel => {
  const { status, at_min } = model;
  // Until its word on the hold is known, nothing else moves it.
  if (model.order !== null) return model;
  if (says === 'holds') {
    if (status === 'processing')
      return { ...ended(model, 'authorized'), heldUntil_min: at_min + held_min };
    return ['failed', 'expired', 'cancelled'].includes(status)
      ? { ...model, order: 'give_up' }
      : model;
  }
  if (status === 'processing') return ended(model, 'failed');
  return says === 'released' && status === 'authorized' ? ended(model, 'expired') : model;
};

const afterWait = (before: HoldModel, minutes: number): HoldModel => {
  const model = { ...before, at_min: before.at_min + minutes };
  const isOver = (from: number | null, ttl: number): boolean =>
    from !== null && model.at_min >= from + ttl;
  if (model.status === 'pending' && isOver(0, linkTtl_min)) return ended(model, 'expired');
  if (model.status === 'processing' && isOver(model.session_min, sessionTtl_min))
    return ended(model, 'expired');
  return isHeld(model) && isOver(model.heldUntil_min, 0) ? { ...model, order: 'end' } : model;
};

/** The refusal of a capture before its bank is asked, or null. */
export const captureRefusal = (model: HoldModel, share: number | null): string | null => {
  if (!isOpen(model)) return 'payment_not_authorized';
  return (shareOf(model.amount, share) ?? 0n) > model.amount ? 'amount_exceeds_remainder' : null;
};

/** The refusal of a refund, or null: its bank always gives the money back. */
export const refundRefusal = (model: HoldModel, share: number | null): string | null => {
  if (model.status === 'refunded') return 'already_refunded';
  if (model.status !== 'succeeded') return 'payment_not_succeeded';
  const left = model.captured - model.refunded;
  return (shareOf(model.amount, share) ?? 0n) > left ? 'amount_exceeds_remainder' : null;
};

const afterRefund = (model: HoldModel, share: number | null): HoldModel => {
  if (refundRefusal(model, share) !== null) return model;
  const refunded =
    model.refunded + (shareOf(model.amount, share) ?? model.captured - model.refunded);
  return {
    ...model,
    refunded,
    status: refunded === model.captured ? 'refunded' : model.status,
    webhooks: [...model.webhooks, 'payment.refunded'],
  };
};

const afterCancel = (model: HoldModel, word: Word): HoldModel => {
  if (model.status === 'pending') return ended(model, 'cancelled');
  return isOpen(model) ? afterWord({ ...model, order: 'cancel' }, word) : model;
};

/** The model after a step. */
export const holdAfter = (model: HoldModel, step: HoldStep): HoldModel => {
  switch (step.do) {
    case 'session':
      return model.status === 'pending'
        ? { ...model, status: 'processing', session_min: model.at_min }
        : model;
    case 'wait':
      return afterWait(model, step.minutes);
    case 'bank':
      return afterBank(model, step.says);
    case 'capture': {
      if (captureRefusal(model, step.share) !== null) return model;
      const captured = shareOf(model.amount, step.share) ?? model.amount;
      return afterWord({ ...model, order: 'capture', captured }, step.word);
    }
    case 'cancel':
      return afterCancel(model, step.word);
    case 'ask':
      return afterWord(model, step.word);
    case 'refund':
      return afterRefund(model, step.share);
  }
};

/** What is owed: to the merchant its net, by the acquirer what came in and did not go back. */
export const moneyOf = (model: HoldModel): { merchant: bigint; acquirer: bigint } => {
  if (model.status !== 'succeeded' && model.status !== 'refunded')
    return { merchant: 0n, acquirer: 0n };
  const fee = model.isLive ? (model.captured * rate_bps + 5_000n) / 10_000n : 0n;
  return {
    merchant: model.captured - fee - model.refunded,
    acquirer: model.captured - model.refunded,
  };
};
