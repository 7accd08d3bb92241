/** How YooKassa's API fails. */
import { randomUUID } from 'node:crypto';
import type { Dialect } from './answer-call.ts';
import { apiError } from './api-parts.ts';

const aKopeckMore = (amount: any): object => ({
  ...amount,
  value: amount.value.replace(/\d\d$/, (last: string) =>
    String((Number(last) + 1) % 100).padStart(2, '0'),
  ),
});
const withMore = (settlement: any): object => ({
  ...settlement,
  amount: aKopeckMore(settlement.amount),
});

export const yookassaDialect: Dialect = {
  tooMany: () => apiError(429, 'too_many_requests', 'Too many requests'),
  broken: (what) => apiError(500, 'internal_server_error', what),
  confused: ({ status, body }) =>
    status === 200 && body.metadata
      ? { status, body: { ...body, metadata: { ...body.metadata, operation_id: randomUUID() } } }
      : { status, body },
  falsified: ({ status, body }) => {
    if (status !== 200) return { status, body };
    if (body.amount) return { status, body: { ...body, amount: aKopeckMore(body.amount) } };
    const settlements = body.settlements?.map(withMore);
    const items = body.items?.map((item: any) =>
      item.settlements ? { ...item, settlements: item.settlements.map(withMore) } : item,
    );
    return {
      status,
      body: { ...body, ...(settlements ? { settlements } : items ? { items } : {}) },
    };
  },
};
