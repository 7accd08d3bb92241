/** The command line: finds the command, reads what it was given, and helps. */
import { parseArgs } from 'node:util';
import { isIdempotencyKey } from '../transport.ts';
import type { Command, Given, Options } from './command.ts';
import { Failure } from './failure.ts';

const everywhere: Options = {
  json: { says: 'print JSON, one object a line' },
  help: { says: 'show this' },
};

const sameWords = (name: string, words: readonly string[]): boolean =>
  name.split(' ').every((word, index) => words[index] === word);

/** The command that the words begin with: the longest name that fits. */
const findCommand = (commands: readonly Command[], words: readonly string[]): Command | undefined =>
  commands
    .filter(({ name }) => sameWords(name, words))
    .toSorted((a, b) => b.name.length - a.name.length)[0];

const countsOf = (args = ''): readonly [least: number, most: number] => {
  const each = args.split(' ').filter((word) => word !== '');
  return [each.filter((word) => word.startsWith('<')).length, each.length];
};

/** The commands of a group: those whose names have more words behind these. */
export const groupOf = (
  commands: readonly Command[],
  words: readonly string[],
): readonly Command[] => {
  const isGroup = words.length > 0 && !findCommand(commands, words);
  return isGroup ? commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `)) : [];
};

const sharedLength = (a: string, b: string): number => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
};

/** The commands whose first word begins most like what was typed, by at least three letters. */
const commandsNear = (
  commands: readonly Command[],
  [typed = '']: readonly string[],
): readonly string[] => {
  const likeness = ({ name }: Command): number => sharedLength(typed, name.split(' ')[0] ?? '');
  const most = Math.max(3, ...commands.map(likeness));
  return commands.filter((one) => likeness(one) === most).map(({ name }) => `psp ${name}`);
};

const unknownCommand = (commands: readonly Command[], words: readonly string[]): Failure => {
  const group = groupOf(commands, words);
  const [text, names] = [words.join(' '), group.map(({ name }) => `psp ${name}`).join(', ')];
  if (group.length > 0) return new Failure('usage', `psp ${text} needs one more word: ${names}`);
  if (text === '') return new Failure('usage', 'a command is missing; see psp --help');
  const near = commandsNear(commands, words);
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : 'see psp --help';
  return new Failure('usage', `there is no command ${text}; ${hint}`);
};

export interface Asked {
  readonly command: Command;
  readonly given: Given;
}

/** Reads a line. Throws a Failure of usage that says what is wrong with it. */
export const readArguments = (commands: readonly Command[], line: readonly string[]): Asked => {
  const words = line.filter((word) => !word.startsWith('-'));
  const command = findCommand(commands, words);
  if (!command) throw unknownCommand(commands, words);
  const options = { ...everywhere, ...command.options };
  const types = Object.entries(options).map(
    ([name, { value }]) =>
      [
        name,
        {
          type: value ? 'string' : 'boolean',
          multiple: value !== undefined,
          ...(name === 'help' ? { short: 'h' } : {}),
        },
      ] as const,
  );
  const see = `see psp ${command.name} --help`;
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...line],
      options: Object.fromEntries(types),
      allowPositionals: true,
    });
  } catch (error) {
    // The first sentence; the others explain the syntax of Node.
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split(/[.\n]/);
    throw new Failure('usage', `${message}; ${see}`);
  }
  const { values, positionals } = parsed;
  const args = positionals.slice(command.name.split(' ').length);
  const [least, most] = countsOf(command.args);
  const isHelp = values['help'] === true;
  if (!isHelp && args.length > most)
    throw new Failure('usage', `psp ${command.name} does not take "${args[most]}"; ${see}`);
  if (!isHelp && args.length < least)
    throw new Failure('usage', `usage: psp ${command.name} ${command.args}; ${see}`);
  // A variable of the shell that is not set.
  if (!isHelp && args.includes(''))
    throw new Failure('usage', `psp ${command.name} ${command.args}: it is empty; ${see}`);
  const all = (name: string): readonly string[] =>
    [values[name] ?? []].flat().filter((value) => typeof value === 'string');
  const twice = Object.keys(options).find((name) => !options[name]?.many && all(name).length > 1);
  if (twice !== undefined) throw new Failure('usage', `--${twice}: it is given more than once`);
  const missing = Object.keys(options).find(
    (name) => options[name]?.required && all(name).length === 0,
  );
  if (!isHelp && missing !== undefined)
    throw new Failure('usage', `--${missing} is missing: ${options[missing]?.says}; ${see}`);
  const text = (name: string): string | undefined => all(name)[0];
  const need = (name: string): string => text(name) ?? '';
  return { command, given: { args, text, need, all, has: (name) => values[name] === true } };
};

/** An integer of minor units. */
export const readAmount = (text: string, name = '--amount'): number => {
  const amount = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(amount))
    throw new Failure('usage', `${name}: expected minor units, as 10000 for 100.00`);
  return amount;
};

export const readAnyAmount = (given: Given): number | undefined => {
  const text = given.text('amount');
  if (text === undefined) return undefined;
  const amount = readAmount(text);
  if (amount === 0) throw new Failure('usage', '--amount: expected 1 or more, or no --amount');
  return amount;
};

export const readCount = (text: string | undefined, fallback: number, name: string): number => {
  if (text === undefined) return fallback;
  const count = Number(text);
  if (!/^\d{1,9}$/.test(text) || count < 1)
    throw new Failure('usage', `${name}: expected a number from 1`);
  return count;
};

/** Pairs as `a=1`, each with a name of its own. Values may have commas. */
export const readPairs = (
  texts: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const name = text.slice(0, equals);
    if (equals < 1) throw new Failure('usage', '--metadata: expected name=value');
    if (pairs.has(name)) throw new Failure('usage', `--metadata: ${name} is given more than once`);
    pairs.set(name, text.slice(equals + 1));
  }
  return texts.length === 0 ? undefined : Object.fromEntries(pairs);
};

export const readChoice = <Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
  name: string,
): Choice | undefined => {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found === undefined)
    throw new Failure('usage', `${name}: expected one of ${choices.join(', ')}`);
  return found;
};

export const creating: Options = {
  'idempotency-key': { says: 'of your own: what is repeated under it is done once', value: 'key' },
};

export const callOptionsOf = (given: Given): { readonly idempotencyKey?: string } => {
  const idempotencyKey = given.text('idempotency-key');
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey))
    throw new Failure('usage', '--idempotency-key: expected 1 to 64 printable ASCII characters');
  return idempotencyKey === undefined ? {} : { idempotencyKey };
};

export const present = <Value extends object>(
  value: Value,
): { [Name in keyof Value]: Exclude<Value[Name], undefined> } =>
  Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined),
    // The type says that what was undefined is not there.
  ) as { [Name in keyof Value]: Exclude<Value[Name], undefined> };

// What `--help` shows, and completion for shells, both from the table of commands.

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join('\n');
};

const rowsOf = (commands: readonly Command[]): string =>
  columns(commands.map(({ name, args = '', says }) => [`psp ${name} ${args}`.trimEnd(), says]));

/** Commands whose names begin with the same word. */
export const helpOfGroup = (group: readonly Command[]): string =>
  [rowsOf(group), '', 'psp <command> --help shows the options of one.'].join('\n');

export const helpOfAll = (commands: readonly Command[]): string =>
  [
    'psp: the payment service from a terminal',
    '',
    rowsOf(commands),
    '',
    'Every command takes --json and --help (-h). Amounts are in minor units (kopecks, cents).',
    'A payment is named by its id or by its number, as P-100063.',
    'PSP_API_KEY, PSP_URL and PSP_SIGNING_SECRET override what psp login has stored.',
    'Exit codes: 0 success; 1 the service refused, or a check failed; 2 wrong usage; 3 no answer;',
    '4 no key, or a text that is no key; 130 stopped.',
  ].join('\n');

const optionRows = (options: Options): readonly (readonly [string, string])[] =>
  Object.entries(options).map(([name, { value, says, choices, required }]) => [
    `--${name}${value ? ` <${value}>` : ''}`,
    `${says}${required ? '; required' : ''}${choices ? `: ${choices.join(', ')}` : ''}`,
  ]);

export const helpOf = ({
  name,
  args = '',
  says,
  choices,
  options = {},
  notes = [],
}: Command): string =>
  [
    `psp ${name} ${args}`.trimEnd(),
    `  ${says}${choices ? `: ${choices.join(', ')}` : ''}`,
    '',
    columns(optionRows({ ...options, ...everywhere })),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');

/** What may follow on the words so far. */
export const completionsOf = (
  commands: readonly Command[],
  words: readonly string[],
): readonly string[] => {
  const before = words.slice(0, -1).filter((word) => !word.startsWith('-'));
  const last = words.at(-1) ?? '';
  const previous = words.at(-2) ?? '';
  const command = commands.find(({ name }) => sameWords(name, before));
  const options = { ...command?.options, ...everywhere };
  const choices = options[previous.replace(/^--/, '')]?.choices;
  const next = choices ?? [
    ...commands.flatMap(({ name }) => {
      const parts = name.split(' ');
      const fits = before.every((word, index) => parts[index] === word);
      return fits && parts.length > before.length ? [parts[before.length] ?? ''] : [];
    }),
    ...(command?.choices ?? []),
    ...(command ? Object.keys(options).map((name) => `--${name}`) : []),
  ];
  return [...new Set(next)].filter((word) => word.startsWith(last));
};

const scripts: Readonly<Record<string, string>> = {
  bash: `_psp() {
  local IFS=$'\\n'
  COMPREPLY=($(psp complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _psp psp
`,
  zsh: `#compdef psp
_psp() {
  local -a found
  found=("\${(@f)$(psp complete -- "\${(@)words[2,CURRENT]}")}")
  compadd -a found
}
compdef _psp psp
`,
};

export const shells: readonly string[] = Object.keys(scripts);

/** What a shell evaluates: `eval "$(psp completion bash)"`. */
export const completionScript = (shell: string): string => {
  const script = scripts[shell];
  if (script === undefined) throw new Failure('usage', `completion is for ${shells.join(' and ')}`);
  return script;
};
