/**
 * The tiny model of a payment's life: what the contract's tables say, in numbers and without any of
 * the service's code. The tests live random histories on the real thing and hold it against this.
 */

/** What a bank may say of a payment, or of a refund. */
export type Answered = 'approve' | 'decline' | 'silent' | 'pending';

/** One step of a history. An answer comes `times` times at once: banks repeat themselves. */
export type Step =
  | { readonly do: 'session' | 'cancel' }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'bank'; readonly answered: Answered | 'unseen'; readonly times: number }
  /**
   * `share` of the payment's amount in hundredths; null: what is left. `answered`: what the bank
   * answers to the order at once.
   */
  | { readonly do: 'refund'; readonly share: number | null; readonly answered: Answered }
  /** An answer about the refund made `of`-th, be it final or not. */
  | {
      readonly do: 'answer';
      readonly of: number;
      readonly answered: Answered;
      readonly times: number;
    }
  /**
   * A creation that was made before is asked for again under its Idempotency-Key: the payment (0)
   * or a refund.
   */
  | { readonly do: 'replay'; readonly of: number };

export interface ModelRefund {
  readonly amount: bigint;
  readonly status: 'pending' | 'succeeded' | 'failed';
}

export interface Model {
  readonly amount: bigint;
  /** What is withheld when it succeeds in time. */
  readonly fee: bigint;
  readonly status: string;
  readonly at_min: number;
  readonly session_min: number | null;
  /** The money came after the payment had ended. */
  readonly late: boolean;
  readonly refunds: readonly ModelRefund[];
  readonly webhooks: readonly string[];
  readonly alerts: readonly string[];
}

const linkTtl_min = 60;
const sessionTtl_min = 20;

export const newModel = (amount: bigint, fee: bigint): Model => ({
  amount,
  fee,
  status: 'pending',
  at_min: 0,
  session_min: null,
  late: false,
  refunds: [],
  webhooks: [],
  alerts: [],
});

const sum = (model: Model, status: ModelRefund['status']): bigint =>
  model.refunds.reduce(
    (total, refund) => (refund.status === status ? total + refund.amount : total),
    0n,
  );

const ended = (model: Model, status: string): Model => ({
  ...model,
  status,
  webhooks: [...model.webhooks, `payment.${status}`],
});

const afterWait = (model: Model, minutes: number): Model => {
  const at_min = model.at_min + minutes;
  const linkOver = model.status === 'pending' && at_min >= linkTtl_min;
  const sessionOver =
    model.status === 'processing' &&
    model.session_min !== null &&
    at_min >= model.session_min + sessionTtl_min;
  return linkOver || sessionOver ? ended({ ...model, at_min }, 'expired') : { ...model, at_min };
};

const alerted = (model: Model, kind: string, times = 1): Model => ({
  ...model,
  alerts: [...model.alerts, ...Array.from({ length: times }, () => kind)],
});

const afterBank = (model: Model, answered: Answered | 'unseen'): Model => {
  const { status } = model;
  // What the bank has not seen is given again: it ends nothing.
  if (answered === 'silent' || answered === 'pending' || answered === 'unseen') return model;
  if (status === 'processing') return ended(model, answered === 'approve' ? 'succeeded' : 'failed');
  if (answered === 'approve') {
    if (model.late || !['failed', 'expired', 'cancelled'].includes(status)) return model;
    return alerted(
      {
        ...model,
        late: true,
        refunds: [...model.refunds, { amount: model.amount, status: 'pending' }],
      },
      'late_success',
    );
  }
  const contradicts =
    answered === 'decline' &&
    (status === 'succeeded' || status === 'refunded') &&
    !model.alerts.includes('bank_answer_contradicts');
  return contradicts ? alerted(model, 'bank_answer_contradicts') : model;
};

const afterAnswer = (model: Model, of: number, answered: Answered): Model => {
  const refund = model.refunds[of];
  if (refund?.status !== 'pending' || answered === 'silent' || answered === 'pending') return model;
  const status = answered === 'approve' ? ('succeeded' as const) : ('failed' as const);
  const after = { ...model, refunds: model.refunds.with(of, { ...refund, status }) };
  if (status === 'failed') {
    const told = { ...after, webhooks: [...model.webhooks, 'refund.failed'] };
    return model.late ? alerted(told, 'late_success') : told;
  }
  const full = !model.late && sum(after, 'succeeded') === model.amount;
  return {
    ...after,
    status: full ? 'refunded' : model.status,
    webhooks: [...model.webhooks, 'payment.refunded'],
  };
};

/** What a refund is asked of: `null` is the whole remainder. */
export const askedOf = ({ amount }: Model, share: number | null): bigint | null =>
  share === null ? null : (amount * BigInt(share)) / 100n || 1n;

/** The refusal of a refund, or null when it is made. */
export const refusalOf = (model: Model, share: number | null): string | null => {
  if (model.status === 'refunded') return 'already_refunded';
  if (model.status !== 'succeeded') return 'payment_not_succeeded';
  const left = model.amount - sum(model, 'succeeded') - sum(model, 'pending');
  return left === 0n || (askedOf(model, share) ?? 0n) > left ? 'amount_exceeds_remainder' : null;
};

const afterRefund = (model: Model, share: number | null, answered: Answered): Model => {
  if (refusalOf(model, share) !== null) return model;
  const amount =
    askedOf(model, share) ?? model.amount - sum(model, 'succeeded') - sum(model, 'pending');
  return afterAnswer(
    { ...model, refunds: [...model.refunds, { amount, status: 'pending' }] },
    model.refunds.length,
    answered,
  );
};

/** The model after a step. */
export const modelAfter = (model: Model, step: Step): Model => {
  switch (step.do) {
    case 'session':
      return model.status === 'pending'
        ? { ...model, status: 'processing', session_min: model.at_min }
        : model;
    case 'cancel':
      return model.status === 'pending' ? ended(model, 'cancelled') : model;
    case 'wait':
      return afterWait(model, step.minutes);
    case 'bank':
      return afterBank(model, step.answered);
    case 'refund':
      return afterRefund(model, step.share, step.answered);
    case 'answer':
      return afterAnswer(model, step.of, step.answered);
    case 'replay':
      return model;
  }
};

/**
 * What the merchant owns, and what of it may be paid out. What the bank kept of a late payment is
 * nobody's.
 */
export const balanceOf = (model: Model): { balance: bigint; available: bigint } => {
  const paid = model.late
    ? model.amount
    : ['succeeded', 'refunded'].includes(model.status)
      ? model.amount - model.fee
      : 0n;
  const balance = paid - sum(model, 'succeeded') - (model.late ? sum(model, 'failed') : 0n);
  return { balance, available: balance - sum(model, 'pending') };
};

/** Successful refunds. */
export const refundedOf = (model: Model): bigint => sum(model, 'succeeded');
