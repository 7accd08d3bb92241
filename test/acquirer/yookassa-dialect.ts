/** How YooKassa's API fails. */
import { randomUUID } from 'node:crypto';
import type { Dialect } from './answer-call.ts';
import { apiError } from './api.ts';

export const yookassaDialect: Dialect = {
  tooMany: () => apiError(429, 'too_many_requests', 'Too many requests'),
  broken: (what) => apiError(500, 'internal_server_error', what),
  confused: ({ status, body }) =>
    status === 200 && body.metadata
      ? { status, body: { ...body, metadata: { ...body.metadata, operation_id: randomUUID() } } }
      : { status, body },
  falsified: ({ status, body }) => {
    if (status !== 200 || !body.amount) return { status, body };
    const value = body.amount.value.replace(/\d\d$/, (last: string) =>
      String((Number(last) + 1) % 100).padStart(2, '0'),
    );
    return { status, body: { ...body, amount: { ...body.amount, value } } };
  },
};
