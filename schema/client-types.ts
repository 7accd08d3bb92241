/** The types of the SDK, as openapi-typescript makes them of the API's description. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';

/** The text of `sdk/src/generated/api.ts`, without a banner. */
export const clientTypes = async (): Promise<string> => {
  // The generator writes with the compiler's API of TypeScript 5, which the TypeScript of the
  // project no longer has.
  const hook = registerHooks({
    resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
  });
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  hook.deregister();
  const description = readFileSync(join(import.meta.dirname, 'openapi.yaml'), 'utf8');
  return astToString(await openapiTypescript(description));
};
