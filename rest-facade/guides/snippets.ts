/**
 * The snippets of the guides. They stand in the English text, as fenced blocks whose first words
 * are a language and a name; other languages take them by a line `{{name}}`. Blocks of one name are
 * one snippet: `sh`, `ts`, `py` and `php` do the same, `json` is what the service answers. What is
 * shown in Python and PHP is made of the call that curl makes, where a guide has no block for it.
 *
 *     ```sh create PAYMENT_ID=payment.id
 *
 * takes a value out of the answer for what follows; `refused=<code>` is a call that the service
 * refuses; `background` continues during what follows. A line `<!-- run: ... -->` is what another
 * person does in between, as the test that runs them all reads it.
 */
export type SnippetLanguage = 'sh' | 'ts' | 'py' | 'php' | 'go' | 'json';

export interface Block {
  readonly language: SnippetLanguage;
  readonly name: string;
  readonly code: string;
  /** Placeholders, and where in the answer their values are. */
  readonly values: readonly (readonly [placeholder: string, path: string])[];
  /** The code of the error that it is to be answered with; null where it is carried out. */
  readonly refused: string | null;
  readonly isBackground: boolean;
}

const known: readonly string[] = [
  'sh',
  'ts',
  'py',
  'php',
  'json',
] satisfies readonly SnippetLanguage[];
const isLanguage = (text: string): text is SnippetLanguage => known.includes(text);

/** Reads a fenced block. Throws when its first line is not of the form above. */
export const readBlock = (info: string, code: string): Block => {
  const [language = '', name = '', ...rest] = info.split(/\s+/);
  if (!isLanguage(language) || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new Error(`a block needs sh, ts, py, php, go or json and a name, not "${info}"`);
  let refused: string | null = null;
  const values: (readonly [string, string])[] = [];
  for (const word of rest) {
    const [left = '', right = ''] = word.split('=');
    if (left === 'refused' && right !== '') refused = right;
    else if (/^[A-Z][A-Z0-9_]*$/.test(left) && right !== '') values.push([left, right]);
    else if (word !== 'background') throw new Error(`"${word}" says nothing about a block`);
  }
  return { language, name, code, values, refused, isBackground: rest.includes('background') };
};

/** What a tab of it is called. */
export const tabName = ({ language, code }: Block): string => {
  if (language !== 'sh')
    return { ts: 'TypeScript', py: 'Python', php: 'PHP', go: 'Go', json: 'JSON' }[language];
  return /\bcurl\b/.test(code) ? 'curl' : /\bpsp\b/.test(code) ? 'psp' : 'shell';
};
