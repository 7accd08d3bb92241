/** What `--help` shows, and completion for shells, both from the table of commands. */
import type { Command, Options } from './command.ts';
import { Failure } from './failure.ts';
import { everywhere } from './read-arguments.ts';

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join('\n');
};

const rowsOf = (commands: readonly Command[]): string =>
  columns(commands.map(({ name, args = '', says }) => [`psp ${name} ${args}`.trimEnd(), says]));

/** Commands whose names begin with the same word. */
export const helpOfGroup = (group: readonly Command[]): string =>
  [rowsOf(group), '', 'psp <command> --help shows the options of one.'].join('\n');

/** The whole command. */
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

/** One command. */
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
  const command = commands.find(({ name }) =>
    name.split(' ').every((word, i) => before[i] === word),
  );
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

/** The shells that completion knows. */
export const shells: readonly string[] = Object.keys(scripts);

/** What a shell evaluates: `eval "$(psp completion bash)"`. */
export const completionScript = (shell: string): string => {
  const script = scripts[shell];
  if (script === undefined) throw new Failure('usage', `completion is for ${shells.join(' and ')}`);
  return script;
};
