/** `psp pay`: pays a test payment as a buyer does, on its page and at the simulated bank. */
import { postForm, postJson, readPage, testCard, useLink, type PageState } from './buyer.ts';
import type { Command, Context, Given } from './command.ts';
import { Failure } from './failure.ts';
import { until } from './trigger.ts';

/** What the buyer is going to do. */
interface Plan {
  /** Null: the simulated bank's own card. */
  readonly card: string | null;
  readonly declines: boolean;
  /** Why the bank declines; null: it decides. */
  readonly failureCode: string | null;
  /** What is typed at the bank. */
  readonly bankCode: string;
}

/** Six digits are what a buyer types at the bank; a word says why the bank declines. */
const planOf = (given: Given): Plan => {
  const [card, code] = [given.text('card'), given.text('code')];
  const digits = card?.replaceAll(/[\s-]/g, '');
  if (digits !== undefined && !/^\d{12,19}$/.test(digits))
    throw new Failure('usage', '--card: expected the number of a card');
  if (code !== undefined && !/^(?:\d{6}|[a-z_]+)$/.test(code))
    throw new Failure('usage', '--code: expected six digits, or a failure code');
  const failureCode = code !== undefined && /^[a-z]/.test(code) ? code : null;
  return {
    card: digits ?? null,
    declines: given.has('decline') || failureCode !== null,
    failureCode,
    bankCode: failureCode === null ? (code ?? '123456') : '123456',
  };
};

const isOver = ({ status }: PageState): boolean => status !== 'pending' && status !== 'processing';

/** Chooses, plans and continues to the bank; nothing of it for a payment that is there already. */
const goOn = async (url: string, shown: PageState, plan: Plan, stopped: AbortSignal) => {
  if (shown.status !== 'pending') return;
  const wanted = plan.card === null ? (shown.methods[0] ?? 'cards') : 'cards';
  const method = shown.method === 'any' ? wanted : shown.method;
  if (plan.card !== null && method !== 'cards')
    throw new Failure('usage', `--card: the payment is paid by ${method}`);
  if (shown.method === 'any') await postJson(`${url}/method`, { method }, stopped);
  if (plan.declines) {
    const planned = { outcome: 'failed', failureCode: plan.failureCode };
    await postJson(`${url}/plan`, planned, stopped);
  }
  const card = { ...testCard, ...(plan.card === null ? {} : { number: plan.card }) };
  await postJson(`${url}/pay`, method === 'cards' ? { card } : {}, stopped);
};

/** Pays on the page at `url`; gives the state in which it ends. */
const payOn = async (context: Context, url: string, plan: Plan): Promise<PageState> => {
  const { stopped } = context;
  const shown = await readPage(url, stopped);
  if (shown.mode !== 'test')
    throw new Failure('refused', 'this payment is a live one: its buyer pays it in a browser');
  if (isOver(shown)) throw new Failure('refused', `the payment is ${shown.status} already`);
  await goOn(url, shown, plan, stopped);
  let isAnswered = false;
  return until(context, 'the answer of the simulated bank', async () => {
    const state = await readPage(url, stopped);
    // Else the bank's answer is planned, and comes by itself.
    const isAsked = state.status === 'processing' && state.plannedOutcome === 'requires_action';
    if (isAsked && state.step !== null && !isAnswered) {
      isAnswered = true;
      const answer = plan.declines ? 'decline' : 'approve';
      await postForm(`${url}/bank`, { answer, code: plan.bankCode }, stopped);
    }
    return isOver(state) ? state : null;
  });
};

/** The page of a payment; that of a link makes one. */
const pageOf = async (text: string, stopped: AbortSignal): Promise<string> => {
  const address = URL.parse(text);
  if (!address || !/^\/pay\/(?:l\/)?[\w-]+\/?$/.test(address.pathname))
    throw new Failure('usage', 'expected the payment_url of a payment');
  const url = `${address.origin}${address.pathname.replace(/\/$/, '')}`;
  return address.pathname.startsWith('/pay/l/') ? useLink(url, stopped) : url;
};

/** The row of `psp pay`. */
export const payCommand: Command = {
  name: 'pay',
  args: '<payment_url>',
  says: 'pay a test payment as its buyer, without a browser',
  options: {
    card: { says: 'the card to pay with', value: 'number' },
    decline: { says: 'have the bank decline' },
    code: { says: 'what is typed at the bank, or why it declines', value: 'digits|failure_code' },
  },
  notes: [
    'It needs no key. A payment that leaves the method open is paid by the first one, or by --card.',
    'psp pay <payment_url> --code insufficient_funds declines with that code.',
    'It ends with 1 when the payment ended otherwise than it was asked to.',
  ],
  run: async (context) => {
    const { given, output, stopped } = context;
    const plan = planOf(given);
    const url = await pageOf(given.args[0] ?? '', stopped);
    const { paymentId, status, failureCode } = await payOn(context, url, plan);
    const why = failureCode === null ? '' : ` (${failureCode})`;
    output.result({ id: paymentId, status, failure_code: failureCode }, `${status}${why}`);
    if ((status === 'failed') !== plan.declines || status === 'expired' || status === 'cancelled')
      throw new Failure('refused', `the payment is ${status}${why}`);
  },
};
