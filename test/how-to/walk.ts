/**
 * A walk carries out the steps of one section of schema/HOW-TO-CHANGE.md: each is an edit of one
 * file, and names the check that fails when it is left out.
 */

import { compileAll } from '../support/compile.ts';

/** Arguments of this same Node, in the root of the tree. */
export type Check = readonly string[];

export interface Step {
  /** What the page names: a path, with `<...>` for what differs from change to change. */
  readonly named: string;
  /** The file of this change. */
  readonly path: string;
  /** The file's text after the step; '' is a file that does not exist yet. */
  readonly edit: (text: string) => string;
  /** Whether the generated files are written anew before the check. */
  readonly generated?: true;
  readonly missedBy: Check;
}

export interface Walk {
  /** The heading of the section. */
  readonly section: string;
  readonly steps: readonly Step[];
  /** Tests of the whole change. */
  readonly tests: readonly Check[];
}

const split = (text: string, anchor: string): readonly [before: string, after: string] => {
  const [before = '', after, ...others] = text.split(anchor);
  if (after === undefined || others.length > 0)
    throw new Error(
      `expected once, found ${others.length + (after === undefined ? 0 : 1)}: ${anchor}`,
    );
  return [before, after];
};

/** Puts lines behind a text that occurs once. */
export const behind =
  (anchor: string, added: string): Step['edit'] =>
  (text) => {
    const [before, after] = split(text, anchor);
    return `${before}${anchor}${added}${after}`;
  };

/** Puts lines before a text that occurs once. */
export const ahead =
  (anchor: string, added: string): Step['edit'] =>
  (text) => {
    const [before, after] = split(text, anchor);
    return `${before}${added}${anchor}${after}`;
  };

/** Exchanges a text that occurs once. */
export const instead =
  (anchor: string, replacement: string): Step['edit'] =>
  (text) =>
    split(text, anchor).join(replacement);

/** Several edits of one file. */
export const all =
  (...edits: readonly Step['edit'][]): Step['edit'] =>
  (text) =>
    edits.reduce((edited, edit) => edit(edited), text);

/** Makes a new file. */
export const create =
  (made: string): Step['edit'] =>
  (text) => {
    if (text !== '') throw new Error('the file exists already');
    return made;
  };

/** One test file, or the tests in it with such names. */
export const tests = (path: string, names?: string): Check => [
  '--test',
  '--test-isolation=none',
  ...(names === undefined ? [] : [`--test-name-pattern=${names}`]),
  path,
];

/** Loads a module: whatever it imports must be there. */
export const load = (path: string): Check => ['--eval', `import('./${path}')`];

export const types: Check = [...compileAll, '--preserveSymlinks'];
export const generate: Check = ['schema/build.ts'];
