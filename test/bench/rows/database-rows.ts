/**
 * Create and read over PostgreSQL: the REST route against a bare handler that runs the same
 * statements, and against pgbench.
 */
import assert from 'node:assert/strict';
import { createRequest, paymentBody, readRequest } from '../payment-requests.ts';
import { hasPgbench, pgbenchSubject } from '../pgbench.ts';
import { connections, crowd, measureBoth, measureCrowd, type Bench } from '../plan.ts';
import { comparisonRows, cpuRows, throughputRow, type Comparison, type Row } from '../report.ts';
import type { Samples } from '../rounds.ts';
import { createStatement, freshIds } from '../sent-statement.ts';
import { serverSubject } from '../subject.ts';
import type { Fixture } from '../fixture.ts';

/** What differs from one new payment to the next. */
const ownFields: readonly string[] = ['id', 'public_id', 'created_at', 'expires_at', 'payment_url'];

const without = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !ownFields.includes(name)));

/** The rest of it. */
const sameFields = (created: { readonly payment: Record<string, unknown> }): object => ({
  ...without(created),
  payment: without(created.payment),
});

/** A baseline that does less is no baseline: both must give the same answers. */
const holdEqual = async ({ merchant, service, bare }: Fixture): Promise<void> => {
  const created = await merchant.call('POST', '/payments', paymentBody);
  const headers = { authorization: `Bearer ${merchant.key}` };
  const path = `/v1/public/payments/${String(created.body.payment.id)}`;
  const [ours, theirs] = await Promise.all(
    [service.url, bare.url].map(async (url) => (await fetch(`${url}${path}`, { headers })).json()),
  );
  assert.deepEqual(theirs, ours, 'the baseline reads another payment');
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(paymentBody),
  };
  const answer = (await (await fetch(`${bare.url}/v1/public/payments`, request)).json()) as {
    payment: Record<string, unknown>;
  };
  assert.deepEqual(
    sameFields(answer),
    sameFields(created.body),
    'the baseline creates another payment',
  );
};

const readIds_max = 500;

/** Ids of payments to read, so that not one row alone is read. */
const paymentIds = async ({ merchant }: Fixture): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < readIds_max; i += 20) {
    const created = await Promise.all(
      Array.from({ length: 20 }, () => merchant.call('POST', '/payments', paymentBody)),
    );
    ids.push(...created.map((answer) => String(answer.body.payment.id)));
  }
  return ids;
};

const bareName = 'bare fastify, same SQL';

/** What a crowd's calls of the same moment gain: in throughput, and in CPU time. */
const crowdRows = (comparison: Comparison, samples: Samples): readonly Row[] => [
  throughputRow(comparison, samples, crowd),
  ...cpuRows({ ...comparison, what: `${comparison.what}, ${crowd} connections` }, samples),
];

/** Creating payments. */
export const createRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await holdEqual(fixture);
  const { merchant, postgres, service, bare, databaseUrl, directory } = fixture;
  const requests = [createRequest(merchant.key)];
  const baseline = serverSubject({ name: bareName, ...bare, requests, postgres }, bench.load);
  const route = serverSubject({ name: 'REST route', ...service, requests, postgres }, bench.load);
  const shop = { merchantId: merchant.id, shopId: merchant.shopId };
  const sent = await createStatement(shop);
  const database = hasPgbench()
    ? pgbenchSubject(sent, freshIds(sent, shop), databaseUrl, directory, postgres)
    : null;
  const subjects = [baseline, route, ...(database ? [database] : [])];
  const what = 'create';
  const { many, one } = await measureBoth(subjects, bench, what);
  const compared = { what, subject: route, baseline };
  const rows = [
    ...comparisonRows({ ...compared, aim: { least: 1.3 } }, many, one, connections),
    ...crowdRows(
      { ...compared, aim: { least: 1.7 } },
      await measureCrowd([baseline, route], bench, what),
    ),
  ];
  if (database)
    return [
      ...rows,
      ...comparisonRows(
        { what, subject: route, baseline: database, aim: null },
        many,
        one,
        connections,
      ),
    ];
  return [
    ...rows,
    {
      what,
      against: 'pgbench, same SQL',
      ratio: null,
      aim: null,
      rounds: 0,
      figures: 'skipped: there is no pgbench in PATH',
    },
  ];
};

/** Reading payments by id. */
export const readRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await holdEqual(fixture);
  const { merchant, postgres, service, bare } = fixture;
  const requests = (await paymentIds(fixture)).map((id) => readRequest(merchant.key, id));
  const baseline = serverSubject({ name: bareName, ...bare, requests, postgres }, bench.load);
  const route = serverSubject({ name: 'REST route', ...service, requests, postgres }, bench.load);
  const what = 'read';
  const { many, one } = await measureBoth([baseline, route], bench, what);
  const compared = { what, subject: route, baseline };
  return [
    ...comparisonRows({ ...compared, aim: { least: 1.1 } }, many, one, connections),
    ...crowdRows(
      { ...compared, aim: { least: 1.3 } },
      await measureCrowd([baseline, route], bench, what),
    ),
  ];
};
