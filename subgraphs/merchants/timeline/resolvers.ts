/** The timeline of a payment in the graph. */
import type { Database } from '../../platform/database/orm.ts';
import { perCall, type SubgraphContext } from '../../platform/graph/subgraph.ts';
import { refusal } from '../../platform/access/access.ts';
import type { EntityReference } from '../../platform/graph/entities.ts';
import { readTimeline, type BankCallRow, type TimelineRow } from './read-timeline.ts';

/** Timelines of one call: each reads seven times. */
const timelines_max = 10;

/** The field of a payment. */
export const timelineOf = ({
  database: { pool },
}: {
  readonly database: Pick<Database, 'pool'>;
}) => {
  const loader = perCall<EntityReference, TimelineRow[]>(async (payments) => {
    if (payments.length > timelines_max)
      throw refusal('bad_request', `timeline: ask for at most ${timelines_max} payments at a time`);
    const found: TimelineRow[][] = [];
    for (const payment of payments) found.push(await readTimeline(pool, payment));
    return found;
  });
  return (payment: EntityReference, _: object, context: SubgraphContext) =>
    loader(context).load(payment);
};

/** Fields of an entry that are shown differently from how they are read. */
export const timelineFields = {
  TimelineBankCall: {
    operationId: ({ row }: BankCallRow) => row.subjectId,
    connector: ({ row }: BankCallRow) => row.connector,
    call: ({ row }: BankCallRow) => row.call,
    amount: ({ row }: BankCallRow) => row.amount,
    currency: ({ row }: BankCallRow) => row.currency,
    answer: ({ row }: BankCallRow) => row.answer,
    reference: ({ row }: BankCallRow) => row.reference,
    failureCode: ({ row }: BankCallRow) => row.failureCode,
    bankCode: ({ row }: BankCallRow) => row.bankCode,
    durationMs: ({ row }: BankCallRow) => row.duration_ms,
  },
};
