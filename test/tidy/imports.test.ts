import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import packageJson from '../../package.json' with { type: 'json' };
import { importsOf } from './edges.ts';
import { areas, violations } from './import-rules.ts';
import { readText, typescriptFiles } from './tree.ts';

const production = new Set(Object.keys(packageJson.dependencies));

const imports = [...importsOf.values()].flat();

/** The values that a formatted text exports by name. */
const valuesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:async )?(?:const|class|function\*?) (\w+)/gm)].map(
    ([, name = '']) => name,
  );

describe('imports', () => {
  test('every import in the tree keeps to the table', (t) => {
    t.diagnostic(`${imports.length} imports of ${importsOf.size} files`);
    assert.ok(imports.length > importsOf.size, 'saw fewer imports than files');
    assert.deepEqual(
      imports.flatMap((edge) => violations(edge, production)),
      [],
    );
  });

  test('every value that the service exports is imported', (t) => {
    const taken = new Set(
      imports.flatMap(({ to, names }) =>
        names.length > 0 ? names.map((name) => `${to} ${name}`) : [to],
      ),
    );
    const service = typescriptFiles().filter(
      (path) => !/^test\/|\/(generated|migrations)\//.test(path),
    );
    const exported = service.flatMap((path) =>
      valuesOf(readText(path)).map((name) => ({ path, name })),
    );
    t.diagnostic(`${exported.length} values`);
    assert.ok(exported.length > service.length, `saw only ${exported.length} values`);
    assert.deepEqual(
      exported.filter(({ path, name }) => !taken.has(path) && !taken.has(`${path} ${name}`)),
      [],
    );
  });

  test('the rules are the rows of the table in docs/architecture.md, in its order', () => {
    const [, section] = readText('docs/architecture.md').split('## Who may import whom\n');
    const rows = section?.split('\n## ')[0]?.match(/^\| .+ \|$/gm) ?? [];
    assert.deepEqual(
      rows.slice(1),
      areas.map(({ row: [area, mayImport] }) => `| ${area} | ${mayImport} |`),
    );
  });
});
