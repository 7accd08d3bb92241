/** Metrics of a running service, and the dashboard and the alert rules that are made of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GraphQLError } from 'graphql';
import { parse } from 'yaml';
import { presentErrors } from '../../subgraphs/platform/graph/present-errors.ts';
import { internalErrors, openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { startService, type Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { readText, typescriptFiles } from '../tidy/tree.ts';
import { namesIn, readExposition, type Exposed } from './promql.ts';
import { live } from './scenario.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'subgraphs/platform/tracing');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const rules: readonly Rule[] = parse(
  readFileSync(join(folder, 'alerts.yaml'), 'utf8'),
).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'));
const panels: readonly { title: string; targets?: readonly { expr: string }[] }[] =
  dashboard.panels;
const drawn = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '5m') })),
);

/** What is quiet while all is well: these metrics have no line until something goes wrong. */
const quiet: Readonly<Record<string, readonly string[]>> = {
  overload_refusals_total: ['reason'],
  money_unsettled_minor_units: ['kind', 'mode', 'currency', 'age'],
};
/** What Prometheus adds. */
const added = ['job', 'instance', 'le'];

/** What an expression names and the service does not have. */
const unknownIn = (expr: string, exposed: ReadonlyMap<string, Exposed>): readonly string[] => {
  const { metrics, labels } = namesIn(expr);
  const known = metrics.flatMap((name) => [
    ...(exposed.get(name)?.labels ?? []),
    ...(quiet[name] ?? []),
  ]);
  const strange = labels.filter((label) => !known.includes(label) && !added.includes(label));
  return [...metrics.filter((name) => !exposed.has(name)), ...strange.map((label) => `{${label}}`)];
};

test('every metric of ours is described to operators, or in an alert or a panel', (t) => {
  const names = typescriptFiles()
    .filter((path) => /^(?:subgraphs|gateway|rest-facade)\//.test(path))
    .flatMap((path) => readText(path).match(/(?<=name: ')\w+(?=',\s+help:)/g) ?? []);
  t.diagnostic(`${names.length} metrics`);
  assert.ok(names.length >= 25, `saw only ${names.length} metrics`);
  const operations = readText('docs/operations.md');
  const asked = new Set([...rules, ...drawn].flatMap(({ expr }) => namesIn(expr).metrics));
  assert.deepEqual(
    names.filter((name) => !asked.has(name) && !new RegExp(`\`${name}\\b`).test(operations)),
    [],
  );
});

test('an unexpected failure is counted, and an expected one is not', async () => {
  const call = {
    principal: { kind: 'service', name: 'test' },
    requestId: 'test',
    isInLane: false,
  } as const;
  const log = openLog({ logLevel: 'silent' }, 'test');
  const meant = new GraphQLError('no', { extensions: { code: 'bad_request' } });
  const before = (await internalErrors.get()).values[0]?.value ?? 0;
  presentErrors(
    {
      data: null,
      errors: [meant, new GraphQLError('', { originalError: new TypeError('x is undefined') })],
    },
    call,
    log,
  );
  assert.equal((await internalErrors.get()).values[0]?.value, before + 1);
});

describe('metrics', () => {
  let service: Service;
  let scraped = '';
  let exposed: ReadonlyMap<string, Exposed>;
  before(async () => {
    // An acquirer that is configured and never called.
    service = await startService('one', {
      YOOKASSA_SHOP_ID: '1',
      YOOKASSA_SECRET_KEY: 'unused',
      YOOKASSA_URL: 'http://127.0.0.1:9',
    });
    const { merchant } = await live(
      service,
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    );
    // The simulated bank never answers an amount that ends so.
    await merchant.call('POST', '/payouts', {
      amount: 106,
      method: 'payouts_sbp',
      phone: '+79161234567',
      bank_id: '100000000004',
      full_name: 'A B',
    });
    const answer = await fetch(`${service.processes[0]?.url}/metrics`);
    scraped = await answer.text();
    exposed = readExposition(scraped);
  });
  after(() => service.stop());

  test('every metric and label of an alert is one that a running service has', () => {
    const wrong = rules.flatMap(({ alert, expr }) =>
      unknownIn(expr.replaceAll(/\bup\b\{[^}]*\}/g, '1'), exposed).map(
        (name) => `${alert}: ${name}`,
      ),
    );
    assert.ok(rules.length >= 20, `saw only ${rules.length} alerts`);
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      unknownIn('sum by (nobody) (rate(no_such_metric{queue="x"}[5m]))', exposed),
      ['no_such_metric', '{nobody}', '{queue}'],
      'the check sees',
    );
    assert.throws(() => namesIn('sum(rate(webhook_backlog[5m])'), /no PromQL/);
  });

  test('every metric and label of a panel is one that a running service has', () => {
    const wrong = drawn.flatMap(({ title, expr }) =>
      unknownIn(expr, exposed).map((name) => `${title}: ${name}`),
    );
    assert.ok(drawn.length >= 30, `saw only ${drawn.length} expressions`);
    assert.deepEqual(wrong, []);
  });

  test('a value that an alert compares a label with is one that the service gives it, where it always gives all of them', () => {
    const always = ['webhook_backlog', 'money_unsettled'];
    const asked = rules
      .flatMap(({ expr }) => namesIn(expr).wanted)
      .filter(({ metric }) => always.includes(metric));
    assert.ok(asked.length >= 4);
    for (const { metric, label, value } of asked)
      assert.ok(exposed.get(metric)?.values.get(label)?.has(value), `${metric} ${label}=${value}`);
  });

  test('the job by which WorkersGone sees a worker runs although nothing is due', async () => {
    const [{ expr } = assert.fail()] = rules.filter(({ alert }) => alert === 'WorkersGone');
    const wanted = namesIn(expr).wanted.filter(({ metric }) => metric === 'job_runs_total');
    assert.deepEqual(
      wanted.map(({ label }) => label),
      ['job'],
    );
    const runs = async (): Promise<number> => {
      const text = await (await fetch(`${service.processes[0]?.url}/metrics`)).text();
      const line = `job_runs_total{job="${wanted[0]?.value}",outcome="done"} `;
      const found = text.split('\n').find((one) => one.startsWith(line));
      return Number(found?.slice(line.length) ?? 0);
    };
    const before = await runs();
    await eventually(async () => (await runs()) >= before + 3, 'three more runs');
  });

  test('a payout that its bank has not answered is money without an end, with its amount', () => {
    assert.match(scraped, /^money_unsettled\{kind="payout",mode="test",age="10m"\} 1$/m);
    assert.match(scraped, /^money_unsettled\{kind="payout",mode="live",age="older"\} 0$/m);
    assert.match(
      scraped,
      /^money_unsettled_minor_units\{kind="payout",mode="test",currency="RUB",age="10m"\} 106$/m,
    );
  });

  test('every alert has a runbook, and every runbook an alert', () => {
    const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const [, runbooks = ''] = operations.split('\n## Runbooks\n');
    const [own = ''] = runbooks.split('\n## ');
    const headings = [...own.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    assert.deepEqual(headings.toSorted(), rules.map(({ alert }) => alert).toSorted());
    for (const { alert, annotations, labels } of rules) {
      assert.equal(annotations.runbook, `docs/operations.md#${alert.toLowerCase()}`);
      assert.ok(
        annotations.summary.length > 10 && ['critical', 'warning'].includes(labels.severity),
      );
    }
  });

  test('the four signals are there for requests, jobs and banks, and no label has a value for each caller', () => {
    for (const name of [
      'http_request_duration_seconds',
      'job_duration_seconds',
      'bank_call_duration_seconds',
    ])
      assert.equal(exposed.get(name)?.kind, 'histogram', name);
    for (const name of [
      'http_requests_in_flight',
      'database_pool_connections',
      'database_pool_waiting',
      'nodejs_eventloop_lag_p99_seconds',
      'queue_jobs_waiting',
    ])
      assert.equal(exposed.get(name)?.kind, 'gauge', name);
    assert.deepEqual(
      [...(exposed.get('bank_call_duration_seconds')?.values.get('call') ?? [])].toSorted(),
      ['ask', 'checkRecipient', 'openSession', 'pay', 'refund'],
    );
    const crowded = [...exposed].flatMap(([name, { values }]) =>
      [...values]
        .filter(([label, seen]) => label !== 'le' && seen.size > 60)
        .map(([label]) => `${name}{${label}}`),
    );
    assert.deepEqual(crowded, []);
  });
});
