/** The documents name the variables that the configuration reads, and no others, each as it is. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readConnectors } from '../../subgraphs/read-config.ts';
import { readServiceConfig } from '../../subgraphs/platform/config/config.ts';
import { readText } from './tree.ts';

/** With this set, every branch of the reading is taken. */
const environment = { OTEL_TRACES_SAMPLER: 'traceidratio' };

/** The variables that the configuration reads, and the text that stands for each without one. */
const readFallbacks = (): ReadonlyMap<string, string | null> =>
  readServiceConfig(environment, (reader) => {
    readConnectors(reader);
    return { fallbacks: reader.fallbacks };
  }).fallbacks;

/**
 * The variables in the tables of a section, with their defaults; one row may have those of several
 * in their order.
 */
const documentedIn = (path: string, section: string): readonly (readonly [string, string])[] => {
  const [, text = ''] = readText(path).split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/^\| (`[A-Z][^|]*) \| ([^|]*) \|/gm)].flatMap(
    ([, names = '', defaults = '']) =>
      [...names.matchAll(/`([A-Z0-9_]+)`/g)].map(
        ([, name = ''], place) => [name, defaults.split(', ')[place] ?? 'none'] as const,
      ),
  );
};

const documented = [
  ...documentedIn('docs/operations.md', 'Configuration'),
  ...documentedIn('docs/acquirers.md', 'Accounts'),
];

test('docs/operations.md and docs/acquirers.md list the variables that the configuration reads, each once', (t) => {
  t.diagnostic(`${documented.length} variables`);
  assert.deepEqual(
    documented.map(([name]) => name).toSorted(),
    [...readFallbacks().keys()].toSorted(),
  );
});

/** Defaults in words: those that follow other settings, and a long list. */
const inWords = ['PUBLIC_URL', 'DATABASE_DIRECT_URL', 'YOOKASSA_CALLBACK_NETWORKS'];

test('they state the defaults as the configuration has them', (t) => {
  const stated = documented.flatMap(([name, meant]) => {
    const [, code, number] = /^(?:`([^` ]+)`|([\d.]+))$/.exec(meant) ?? [];
    const text = code ?? number;
    return text === undefined ? [] : [[name, text] as const];
  });
  const isLiteral = ([name]: readonly [string, unknown]): boolean => !inWords.includes(name);
  t.diagnostic(`${stated.length} defaults`);
  assert.deepEqual(
    new Map(stated.filter(isLiteral)),
    new Map([...readFallbacks()].filter(isLiteral).filter(([, text]) => text)),
  );
});
