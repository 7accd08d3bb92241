/**
 * What no log may hold: cards, keys, secrets, people. `npm test` looks through the logs of every
 * service that its tests started.
 */
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Patterns of private data. The data of the tests is of these kinds. */
const patterns: Readonly<Record<string, RegExp>> = {
  'a card number': /(?<![\w.-])[2-6]\d{15,18}(?![\w.-])/g,
  'a card number in groups': /(?<![\w.-])[2-6]\d{3}([ ./_:-])\d{4}\1\d{4}\1\d{4}(?![\w.-])/g,
  'an account number': /(?<![\w.-])\d{20}(?![\w.-])/g,
  'a phone': /\+7\d{10}|(?<![\w.-])79\d{9}(?![\w.-])/g,
  'an API key': /\bsk_(?:test|live)_\w{20,}/g,
  'a secret of webhooks or signatures': /\b(?:whs|thm)_\w{16,}/g,
  'a token of a hosted page': /\/pay\/[\w.-]{20,}/g,
  'a signed token': /\beyJ[\w-]{8,}\.[\w-]{8,}\./g,
  'a password in an address': /\b\w+:\/\/[^/\s"@:]+:[^/\s"@]+@/g,
  "the operator's token": /operator-token-of-the-tests/g,
  'a private field':
    /"(?:cvc|card|card_?[pP]an|number|full_?[nN]ame|holder|phone|account_?[nN]umber|authorization)":"(?!\[redacted\])[^"]+"/g,
  'words in Russian, in which names and addresses are': /[а-яё]{2,}/gi,
};

const passesLuhn = (digits: string): boolean => {
  const doubled = digits
    .split('')
    .toReversed()
    .map((digit, place) =>
      place % 2 === 0 ? Number(digit) : (Number(digit) * 2) % 9 || (digit === '0' ? 0 : 9),
    );
  return doubled.reduce((sum, digit) => sum + digit, 0) % 10 === 0;
};

/**
 * What of a log's text is private, each with the beginning of its line. Only lines of JSON are log:
 * what `npm start` prints for a person has keys in it on purpose.
 */
export const leaksIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) =>
      Object.entries(patterns).flatMap(([what, pattern]) =>
        [...line.matchAll(pattern)]
          .map(([found]) => found)
          .filter(
            (found) => !what.startsWith('a card number') || passesLuhn(found.replaceAll(/\D/g, '')),
          )
          .map((found) => `${what} (${found}) in ${line.slice(0, 400)}`),
      ),
    );

/** Keeps what a service printed, when the run gathers logs: TEST_LOGS names the folder. */
export const keepLog = (name: string, text: string): void => {
  const folder = process.env['TEST_LOGS'];
  if (folder && existsSync(folder))
    appendFileSync(join(folder, `${process.pid}-${name.replaceAll(/\W+/g, '-')}.log`), `${text}\n`);
};

/** Looks through everything that was kept. */
export const searchLogs = (
  folder: string,
): { readonly lines: number; readonly leaks: readonly string[] } => {
  const texts = globSync(join(folder, '*.log')).map((path) => readFileSync(path, 'utf8'));
  const lines = texts.reduce(
    (count, text) => count + text.split('\n').filter((line) => line.startsWith('{')).length,
    0,
  );
  return { lines, leaks: texts.flatMap(leaksIn) };
};
