/** Finds the command of a line, and reads what it was given. */
import { parseArgs } from 'node:util';
import type { Command, Given, Options } from './command.ts';
import { Failure } from './failure.ts';

/** Options of every command. */
export const everywhere: Options = {
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

/** The failure of words that no command has. */
const unknownCommand = (commands: readonly Command[], words: readonly string[]): Failure => {
  const group = groupOf(commands, words);
  const [text, names] = [words.join(' '), group.map(({ name }) => `psp ${name}`).join(', ')];
  if (group.length > 0) return new Failure('usage', `psp ${text} needs one more word: ${names}`);
  return new Failure('usage', `there is no command ${text || '""'}; see psp --help`);
};

/** What a line asks for. */
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
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...line],
      options: Object.fromEntries(types),
      allowPositionals: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Failure('usage', `${message}; see psp ${command.name} --help`);
  }
  const { values, positionals } = parsed;
  const args = positionals.slice(command.name.split(' ').length);
  const [least, most] = countsOf(command.args);
  const isHelp = values['help'] === true;
  if (!isHelp && (args.length < least || args.length > most))
    throw new Failure('usage', `usage: psp ${command.name} ${command.args ?? ''}`.trimEnd());
  const all = (name: string): readonly string[] =>
    [values[name] ?? []].flat().filter((value) => typeof value === 'string');
  const twice = Object.keys(options).find((name) => !options[name]?.many && all(name).length > 1);
  if (twice !== undefined) throw new Failure('usage', `--${twice}: it is given more than once`);
  const text = (name: string): string | undefined => all(name)[0];
  return { command, given: { args, text, all, has: (name) => values[name] === true } };
};
