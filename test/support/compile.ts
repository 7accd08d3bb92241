/** How the compiler is called, as arguments of this same Node. */

export const compile: readonly string[] = ['node_modules/typescript/bin/tsc'];

/**
 * What the compiler found in each file, by the file's text: it is kept with the packages, and looks
 * again only at what has changed and at what that changes.
 */
export const compiled = 'node_modules/.cache/types.json';

/** Checks the whole project. */
export const compileAll: readonly string[] = [
  ...compile,
  '--project',
  '.',
  '--incremental',
  '--tsBuildInfoFile',
  compiled,
];
