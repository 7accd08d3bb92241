/** Create and read over PostgreSQL: the REST route against a bare handler that runs the same statements, and against pgbench. */
import assert from 'node:assert/strict';
import { createRequest, readRequest } from './payment-requests.ts';
import { hasPgbench, pgbenchSubject } from './pgbench.ts';
import { measureBoth, connections, type Bench } from './plan.ts';
import { comparisonRows, type Row } from './report.ts';
import type { Subject } from './rounds.ts';
import { createStatement } from './sent-statement.ts';
import { serverSubject } from './subject.ts';
import type { World } from './world.ts';

const body = { amount: 10_000, order_id: 'order-1' };

/** The names of an answer's fields, those inside included. */
const shapeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)])) : typeof value;

/** A baseline that does less is no baseline: both must give the same fields of the same types. Gives the id of a payment. */
const holdEqual = async ({ merchant, service, bare }: World): Promise<string> => {
  const created = await merchant.call('POST', '/payments', body);
  const headers = { authorization: `Bearer ${merchant.key}` };
  const path = `/v1/public/payments/${String(created.body.payment.id)}`;
  const [ours, theirs] = await Promise.all([service.url, bare.url].map(async (url) => (await fetch(`${url}${path}`, { headers })).json()));
  assert.deepEqual(theirs, ours, 'the baseline reads another payment');
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer: unknown = await (await fetch(`${bare.url}/v1/public/payments`, request)).json();
  assert.deepEqual(shapeOf(answer), shapeOf(created.body), 'the baseline creates another payment');
  return created.body.payment.id;
};

const readIds_max = 500;

/** Ids of payments to read, so that not one row alone is read. */
const paymentIds = async ({ merchant }: World): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < readIds_max; i += 20) {
    const created = await Promise.all(Array.from({ length: 20 }, () => merchant.call('POST', '/payments', body)));
    ids.push(...created.map((answer) => String(answer.body.payment.id)));
  }
  return ids;
};

const bareName = 'bare fastify, same SQL';

/** Creating payments. */
export const createRows = async (world: World, bench: Bench): Promise<readonly Row[]> => {
  await holdEqual(world);
  const { merchant, postgres, service, bare, databaseUrl, directory } = world;
  const requests = [createRequest(merchant.key)];
  const baseline = serverSubject({ name: bareName, ...bare, requests, postgres }, bench.load);
  const route = serverSubject({ name: 'REST route', ...service, requests, postgres }, bench.load);
  // The payment's id and the event's.
  const pgbench = (): Promise<Subject> =>
    createStatement({ merchantId: merchant.id, shopId: merchant.shopId }).then((sent) => pgbenchSubject(sent, [2, 16], databaseUrl, directory, postgres));
  const database = hasPgbench() ? await pgbench() : null;
  const subjects = [baseline, route, ...(database ? [database] : [])];
  const { many, one } = await measureBoth(subjects, bench, 'create');
  const rows = comparisonRows({ what: 'create', subject: route, baseline, aim: { least: 0.9 } }, many, one, connections);
  const what = 'create';
  if (database) return [...rows, ...comparisonRows({ what, subject: route, baseline: database, aim: null }, many, one, connections)];
  return [...rows, { what, against: 'pgbench, same SQL', ratio: null, aim: null, rounds: 0, figures: 'skipped: there is no pgbench in PATH' }];
};

/** Reading payments by id. */
export const readRows = async (world: World, bench: Bench): Promise<readonly Row[]> => {
  await holdEqual(world);
  const { merchant, postgres, service, bare } = world;
  const requests = (await paymentIds(world)).map((id) => readRequest(merchant.key, id));
  const baseline = serverSubject({ name: bareName, ...bare, requests, postgres }, bench.load);
  const route = serverSubject({ name: 'REST route', ...service, requests, postgres }, bench.load);
  const { many, one } = await measureBoth([baseline, route], bench, 'read');
  return comparisonRows({ what: 'read', subject: route, baseline, aim: { least: 0.85 } }, many, one, connections);
};
