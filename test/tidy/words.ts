/**
 * What is read off one file: names that say nothing, marks of unfinished work, waivers, tests that
 * do not run, places on somebody's machine.
 */
import { posix } from 'node:path';
import { Visitor, parseSync } from 'oxc-parser';

/** Words of a path that say nothing about what is there. */
const emptyWords = new Set([
  'util',
  'utils',
  'utility',
  'utilities',
  'helper',
  'helpers',
  'common',
  'lib',
  'libs',
  'misc',
]);

/** Parts of a path (folders, and the words of a file's name) that name no part of the domain. */
export const emptyNames = (path: string): readonly string[] =>
  path.split(/[/.-]/).filter((word) => emptyWords.has(word.toLowerCase()));

interface Pattern {
  readonly says: string;
  readonly finds: RegExp;
}

/** Marks and places, in a text of any kind. */
const textPatterns: readonly Pattern[] = [
  { says: 'a mark of unfinished work', finds: /\b(TODO|FIXME|XXX|HACK)\b/ },
  {
    says: "a place on somebody's machine",
    finds: /(^|[\s'"`(=:])(\/(work|root|Users)\/|\/home\/(?!node\/)\w|[A-Z]:\\\\?Users\\)/m,
  },
];

/** A comment that switches a checker off. */
const waiver =
  /(oxlint|eslint)-(disable|enable)|@ts-(ignore|expect-error|nocheck)|(oxfmt|prettier|biome)-ignore|(v8|c8|istanbul) ignore/;

/** Names of types and classes that say what they are made as, not what they are. */
const emptySuffix = /\w(Service|Manager|Handler|Processor|Impl)$/;

/** What is wrong with a text of any kind. */
export const textFaults = (text: string): readonly string[] =>
  textPatterns.flatMap(({ says, finds }) => {
    const found = finds.exec(text);
    return found ? [`line ${text.slice(0, found.index + 1).split('\n').length}: ${says}`] : [];
  });

/**
 * Links of a Markdown text to files or folders beside it that are not among `files`, all of them
 * paths from the root. Links to `/docs` are pages that the service itself serves.
 */
export const deadLinks = (
  path: string,
  text: string,
  files: readonly string[],
): readonly string[] =>
  [...text.matchAll(/\]\((?!#|https?:|\/docs\/)([^)#\s]+)(?:#[^)]*)?\)/g)].flatMap(
    ([, link = '']) => {
      const target = posix.join(posix.dirname(path), link);
      const leads = files.some((file) => file === target || file.startsWith(`${target}/`));
      return leads ? [] : [link];
    },
  );

/** What is wrong with a TypeScript text beyond that. */
export const typescriptFaults = (path: string, text: string): readonly string[] => {
  const { program, comments } = parseSync(path, text);
  const faults: string[] = [];
  const say = (offset: number, fault: string): void =>
    void faults.push(`line ${text.slice(0, offset).split('\n').length}: ${fault}`);
  for (const comment of comments) if (waiver.test(comment.value)) say(comment.start, 'a waiver');

  const named = (id: { readonly name: string; readonly start: number } | null): void => {
    if (id && emptySuffix.test(id.name)) say(id.start, `the name ${id.name}`);
  };
  let conditions = 0;
  const enter = (): void => void conditions++;
  const leave = (): void => void conditions--;
  new Visitor({
    ClassDeclaration: ({ id }) => named(id),
    TSInterfaceDeclaration: ({ id }) => named(id),
    TSTypeAliasDeclaration: ({ id }) => named(id),
    IfStatement: enter,
    'IfStatement:exit': leave,
    CallExpression({ callee, start }) {
      if (
        callee.type !== 'MemberExpression' ||
        callee.property.type !== 'Identifier' ||
        callee.object.type !== 'Identifier'
      )
        return;
      const [object, method] = [callee.object.name, callee.property.name];
      if (!['test', 'describe', 'it', 'suite', 't'].includes(object)) return;
      if (method === 'only' || method === 'todo')
        say(start, `${object}.${method}: the others do not run`);
      if (method === 'skip' && conditions === 0) say(start, `${object}.skip without a condition`);
    },
    Property({ key, value, start }) {
      if (
        !path.endsWith('.test.ts') ||
        key.type !== 'Identifier' ||
        !['only', 'skip', 'todo'].includes(key.name)
      )
        return;
      if (value.type === 'Literal' && value.value !== false)
        say(start, `${key.name} without a condition`);
    },
  }).visit(program);
  return faults;
};
