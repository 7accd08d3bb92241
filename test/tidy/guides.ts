/**
 * What guides are held to: the form of decisions, and paths and sections that exist. Comments in
 * code, too, name only files that exist.
 */
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One decision of ARCHITECTURE.md has at most this many words, its title among them. */
export const decisionWords_max = 120;

const form =
  /^#### A-\d{3}\. [^\n]+ \(\d{4}-\d{2}-\d{2}\)\n- \*\*Decision:\*\* [^]+?\n- \*\*Rejected:\*\* [^]+?(?:\n- \*\*Measured:\*\* [^]+?)?$/;

/** The decisions of a text, each from its heading to the next one. */
export const decisionsOf = (text: string): readonly string[] =>
  (text.split('\n## Decisions\n')[1] ?? '')
    .split(/^(?=#{2,4} )/m)
    .filter((part) => part.startsWith('#### '))
    .map((part) => part.trim());

/** What is wrong with one decision. */
export const decisionFaults = (decision: string): readonly string[] => {
  const [title = ''] = decision.split('\n');
  const words = decision.split(/\s+/).length;
  const items = decision.split('\n').filter((line) => line.startsWith('- ')).length;
  const faults: string[] = [];
  if (!form.test(decision) || items !== (decision.includes('**Measured:**') ? 3 : 2))
    faults.push(`${title}: not of the form`);
  if (words > decisionWords_max) faults.push(`${title}: ${words} words`);
  return faults;
};

/** Folders in which a path of a guide begins, and in which it is looked for. */
const begins =
  /^(kernel|payments|payouts|recurring|merchants|gateway|rest-facade|schema|subgraphs|test)$/;

/** `a/{b,c}` as `a/b` and `a/c`. */
const alternatives = (path: string): readonly string[] => {
  const [, before = '', inside = '', behind = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return inside === '' ? [path] : inside.split(',').map((one) => `${before}${one}${behind}`);
};

/**
 * Paths in backticks that lead nowhere. A path is written from the root, or without `subgraphs/`;
 * the ending of a TypeScript file may be missing.
 */
export const deadPaths = (text: string, files: readonly string[]): readonly string[] => {
  const leads = (path: string): boolean =>
    [path, `subgraphs/${path}`].some((from) =>
      files.some((file) => file === from || file === `${from}.ts` || file.startsWith(`${from}/`)),
    );
  return [...text.matchAll(/`([a-z][\w-]*\/[\w./{},-]*)`/g)]
    .map(([, path = '']) => path.replace(/\/$/, ''))
    .filter((path) => begins.test(path.split('/')[0] ?? ''))
    .filter((path) => !alternatives(path).every(leads));
};

/** Written by a build, so that a clean tree does not have it. */
const built: ReadonlySet<string> = new Set(['console/dist']);

/**
 * Files that the comments of a TypeScript text name and that do not exist: by their ending, or in
 * backticks by a path that begins in a folder of the project. Folders before it may be missing.
 */
export const deadNames = (path: string, text: string, files: readonly string[]) => {
  const folders = new Set(files.flatMap((file) => file.split('/').slice(0, -1)));
  const leads = (name: string): boolean =>
    files.some(
      (file) =>
        [`/${name}`, `/${name}.ts`].some((end) => `/${file}`.endsWith(end)) ||
        `/${file}`.includes(`/${name}/`),
    );
  const comments = parseSync(path, text).comments.map(({ value }) => value);
  const byEnding = comments.flatMap(
    (comment) => comment.match(/(?<![\w*$}])[\w@-][\w./@-]*\.(?:tsx?|mjs|md|sql)\b/g) ?? [],
  );
  const inBackticks = comments
    .flatMap((comment) => [...comment.matchAll(/`([a-z][\w-]*\/[\w./-]*)`/g)])
    .map(([, name = '']) => name.replace(/\/$/, ''))
    .filter((name) => folders.has(name.split('/')[0] ?? '') && !built.has(name));
  return [...byEnding, ...inBackticks].filter((name) => !leads(name));
};

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');

/** Links of a guide to sections that do not exist; `read` gives the text of a guide. */
export const deadAnchors = (path: string, read: (path: string) => string): readonly string[] => {
  const links = read(path).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g);
  return [...links].flatMap(([, link = '', anchor = '']) => {
    const guide = link === '' ? path : posix.join(posix.dirname(path), link);
    const headings = [...read(guide).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
    return headings.map(anchorOf).includes(anchor) ? [] : [`${link}#${anchor}`];
  });
};
