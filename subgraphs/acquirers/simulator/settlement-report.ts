/**
 * The simulated bank's settlement report. Its own records hold the operations and their results; an
 * operation's amount is read from its order.
 */
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { SettlementBank, ReportLine } from '../bank.ts';

const page_rows = 5_000;

/** SQL: the test bank's operation belongs to the report and follows the previous page. */
const ofPage = `done.answer_at >= $1 and done.answer_at < $2 and (done.merchant_id, done.operation_id) > ($3::uuid, $4::uuid)
          and done.outcome in ('succeeded', 'requires_action', 'failed')`;

/** A page of the report. A hold moves no money: its capture does. */
const page: Statement = {
  name: 'simulator.settlement_report',
  text: `with done as not materialized (
      select merchant_id, operation_id, reference, outcome, answer_at, null::int8 as captured from simulator_operation
        where holds is not true or outcome = 'failed'
      union all
      select merchant_id, payment_id, 'sim_' || payment_id, 'succeeded', answer_at, amount from simulator_hold_order
        where kind = 'capture' and failure_code is null),
    ordered as (
      select done.*, 'payment' as kind, payment.amount, payment.currency from done
        join payment on payment.merchant_id = done.merchant_id and payment.id = done.operation_id
        where not (payment.verification and payment.method = 'cards') and ${ofPage}
      union all
      select done.*, 'refund', refund.amount, payment.currency from done
        join refund on refund.merchant_id = done.merchant_id and refund.id = done.operation_id
        join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id
        where ${ofPage}
      union all
      select done.*, 'payout', payout.amount, payout.currency from done
        join payout on payout.merchant_id = done.merchant_id and payout.id = done.operation_id
        where ${ofPage})
    select merchant_id as "merchantId", operation_id as "operationId", reference, kind, coalesce(captured, amount) as amount, currency,
      case when outcome = 'failed' then 'failed' else 'succeeded' end as status, answer_at as at, null::int8 as fee
    from ordered order by merchant_id, operation_id limit $5`,
};

type PageLine = ReportLine & { readonly merchantId: string; readonly operationId: string };

/** The simulator's settlement report. */
export const simulatorReport = (runner: Runner): SettlementBank => ({
  connector: 'simulator',
  mode: 'test',
  async *settlementReport({ since, until }) {
    const nobody = '00000000-0000-0000-0000-000000000000';
    let after = [nobody, nobody];
    for (;;) {
      const lines = await run<PageLine>(runner, page, [since, until, ...after, page_rows]);
      const last = lines.at(-1);
      if (last) yield lines;
      if (!last || lines.length < page_rows) return;
      after = [last.merchantId, last.operationId];
    }
  },
});
