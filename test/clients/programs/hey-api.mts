/** A shop on the client that hey-api made. It prints what it saw. */
import { client } from './hey-api/client.gen.ts';
import {
  cancelPayment,
  createPayment,
  createPayout,
  listPayments,
  streamEvents,
} from './hey-api/index.ts';
import type { ErrorCode, LiveEvent } from './hey-api/index.ts';

const { BASE_URL: baseUrl = '', API_KEY: key = '' } = process.env;
client.setConfig({ baseUrl, auth: key });

/** The kind of an event says which payload it has. */
const describe = (event: LiveEvent): string => {
  if (event.kind === 'payment.created') return `created ${event.payload.amount}`;
  if (event.kind === 'payment.status_changed') return `became ${event.payload.status}`;
  return event.kind;
};

const opened = Promise.withResolvers<void>();
const leaving = new AbortController();
const { stream } = await streamEvents({
  signal: leaving.signal,
  fetch: async (...asked) => {
    const response = await fetch(...asked);
    opened.resolve();
    return response;
  },
});
const events: string[] = [];
const following = (async () => {
  for await (const event of stream) if (events.push(describe(event)) === 2) break;
})();
// What happens before the stream is open is not in it.
await opened.promise;

const created = await createPayment({ body: { amount: 10_000 } });
const id = created.data?.payment.id ?? '';
await cancelPayment({ path: { id } });
const listed = await listPayments({ query: { status: ['pending', 'cancelled'], limit: 200 } });
const refused = await createPayout({
  body: { amount: 100, phone: '+79161234567', bank_id: '100000000111' },
});
const code: ErrorCode | undefined = refused.error?.error.code;
await following;
leaving.abort();

console.log(
  JSON.stringify({
    asked: new URL(listed.response?.url ?? '').searchParams.getAll('status'),
    listed: listed.data?.items.filter((payment) => payment.id === id).map(({ status }) => status),
    refused: code,
    events,
  }),
);
