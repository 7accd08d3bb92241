/**
 * Writes the clients that the stock generators make of `schema/openapi.yaml` into a folder:
 * `node generate-clients.ts <folder>`. It is a program of its own because of the hook below.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';

const description = join(import.meta.dirname, '../../schema/openapi.yaml');

// The generators write with the compiler's API of TypeScript 5, which the TypeScript of the project
// no longer has.
registerHooks({
  resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
});

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder to write to');

const { default: openapiTypescript, astToString } = await import('openapi-typescript');
const tree = await openapiTypescript(readFileSync(description, 'utf8'));
writeFileSync(join(folder, 'openapi-typescript.ts'), astToString(tree));

const { createClient } = await import('@hey-api/openapi-ts');
await createClient({
  input: description,
  output: { path: join(folder, 'hey-api'), module: { extension: '.ts' } },
  logs: { level: 'error', file: false },
});
