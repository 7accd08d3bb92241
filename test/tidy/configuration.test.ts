/** The guides name the variables that the configuration reads, and no others. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readConfig } from '../../subgraphs/read-config.ts';
import { readText } from './tree.ts';

/** With these set, every branch of the reading is taken. */
const set: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://localhost/service',
  SECRET_KEY: Buffer.alloc(32).toString('base64'),
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_AUDIENCE: 'payments',
  OTEL_TRACES_SAMPLER: 'traceidratio',
  METRICS_PORT: '9464',
  YOOKASSA_CALLBACK_NETWORKS: '127.0.0.1',
};

/** The names that the configuration asks its environment for, without those of files. */
const readNames = (): readonly string[] => {
  const names = new Set<string>();
  const environment = new Proxy(set, {
    get: (_, name) => {
      names.add(String(name));
      return set[String(name)];
    },
  });
  readConfig(environment);
  return [...names].filter((name) => !name.endsWith('_FILE')).toSorted();
};

/** The names in the first cells of the tables of a section. */
const documentedNames = (path: string, section: string): readonly string[] => {
  const [, text = ''] = readText(path).split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/^\| (`[A-Z][^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name),
  );
};

test('OPERATIONS.md and LIVE.md list the variables that the configuration reads, each once', (t) => {
  const documented = [
    ...documentedNames('subgraphs/kernel/fleet/OPERATIONS.md', 'Configuration'),
    ...documentedNames('subgraphs/kernel/banks/LIVE.md', 'Accounts'),
  ];
  t.diagnostic(`${documented.length} variables`);
  assert.deepEqual(documented.toSorted(), readNames());
});
