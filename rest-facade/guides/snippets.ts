/**
 * The snippets of the guides. They stand in the English text, as fenced blocks whose first words
 * are a language and a name; other languages take them by a line `{{name}}`. Blocks of one name are
 * one snippet: `sh`, `ts`, `py` and `php` do the same, `json` is what the service answers. What is
 * shown in Python and PHP is made of the call that curl makes, where a guide has no block for it.
 *
 *     ```sh create PAYMENT_ID=payment.id
 *
 * takes a value out of the answer for what follows; `refused=<code>` is a call that the service
 * refuses; `background` continues during what follows; a `sketch` is not run. A line
 * `<!-- run: ... -->` is what another person does in between, as the test that runs them all reads
 * it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { prepareAnswer, serveMade } from '../fixed-answer.ts';

const languages = ['sh', 'ts', 'py', 'php', 'go', 'json'] as const;
export type SnippetLanguage = (typeof languages)[number];

export interface Block {
  readonly language: SnippetLanguage;
  readonly name: string;
  readonly code: string;
  /** Placeholders, and where in the answer their values are. */
  readonly values: readonly (readonly [placeholder: string, path: string])[];
  /** The code of the error that it is to be answered with; null where it is carried out. */
  readonly refused: string | null;
  readonly isBackground: boolean;
  /** Whether it is a part of the reader's own program, which no test can run. */
  readonly isSketch: boolean;
}

const isLanguage = (text: string): text is SnippetLanguage =>
  languages.some((language) => language === text);

/** Reads a fenced block. Throws when its first line is not of the form above. */
export const readBlock = (info: string, code: string): Block => {
  const [language = '', name = '', ...rest] = info.split(/\s+/);
  if (!isLanguage(language) || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new Error(`a block needs one of ${languages.join(', ')} and a name, not "${info}"`);
  let refused: string | null = null;
  const values: (readonly [string, string])[] = [];
  for (const word of rest) {
    const [left = '', right = ''] = word.split('=');
    if (left === 'refused' && right !== '') refused = right;
    else if (/^[A-Z][A-Z0-9_]*$/.test(left) && right !== '') values.push([left, right]);
    else if (word !== 'background' && word !== 'sketch')
      throw new Error(`"${word}" says nothing about a block`);
  }
  const [isBackground, isSketch] = [rest.includes('background'), rest.includes('sketch')];
  return { language, name, code, values, refused, isBackground, isSketch };
};

/** What a tab of it is called. */
export const tabName = ({ language, code }: Block): string => {
  if (language !== 'sh')
    return { ts: 'TypeScript', py: 'Python', php: 'PHP', go: 'Go', json: 'JSON' }[language];
  return /\bcurl\b/.test(code) ? 'curl' : /\bpsp\b/.test(code) ? 'psp' : 'shell';
};

// The snippets in Python and PHP. They are made of those for curl, so that each stands at one place
// and calls the same; a guide that shows something else has a block of its own (`py`, `php`). They
// use the copyable files of `sdk/`.

/** A value of a body: JSON, where a text that begins with `mark` names a variable. */
type Value = string | number | boolean | null | readonly Value[] | Fields;
interface Fields {
  readonly [name: string]: Value;
}

const mark = '\u{E000}';

interface CurlCall {
  readonly method: string;
  /** Below `/v1/public`; null: it is of the graph. Variables are written `$NAME`. */
  readonly path: string | null;
  readonly body: Value | undefined;
  readonly idempotencyKey: string | null;
  /** The variable of the credential. */
  readonly credential: string;
}

const bodyOf = (code: string): Value | undefined => {
  const [, text] = / -d '((?:[^']|'"[^']*"')*)'/.exec(code) ?? [];
  if (text === undefined) return undefined;
  const marked = text
    .replaceAll(/'"\$(?<name>[A-Z_]+)"'/g, `${mark}$<name>`)
    .replaceAll(/'"\$\(date [^']*\)"'/g, `${mark}NOW`);
  return JSON.parse(marked) as Value;
};

/** Reads a block; null when it is more than one plain call. */
const readCurl = (code: string): CurlCall | null => {
  const address =
    /^curl\b(?: -X POST| --[a-z-]+(?: \d+)?)* "\$PSP_URL(\/v1\/public|\/graphql)([^"]*)"/;
  const [found, base, path = ''] = address.exec(code) ?? [];
  const [, credential] = /Bearer \$([A-Z_]+)"/.exec(code) ?? [];
  if (found === undefined || credential === undefined) return null;
  const body = bodyOf(code);
  return {
    method: body !== undefined || found.includes('-X POST') ? 'POST' : 'GET',
    path: base === '/graphql' ? null : path,
    body,
    idempotencyKey: /Idempotency-Key: ([^"]+)"/.exec(code)?.[1] ?? null,
    credential,
  };
};

/** How a language writes what a call consists of. */
interface Syntax {
  readonly language: 'py' | 'php';
  readonly text: (value: string) => string;
  /** What begins a text with variables in braces. */
  readonly filled: 'f"' | '"';
  readonly constants: readonly [yes: string, no: string, nothing: string];
  readonly brackets: readonly [list: string, listEnd: string, fields: string, fieldsEnd: string];
  readonly colon: string;
  /** A variable of an earlier answer. */
  readonly variable: (name: string) => string;
  /** One of the environment. */
  readonly environment: (name: string) => string;
  readonly now: string;
  readonly service: (credential: string) => string;
  readonly call: (service: string, method: string, parts: readonly string[]) => string;
  readonly idempotencyKey: (text: string) => string;
  readonly end: string;
  readonly answer: string;
  readonly refused: (call: string, code: string) => string;
}

const lower = (name: string): string => name.toLowerCase();
const camel = (name: string): string =>
  lower(name).replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const python: Syntax = {
  language: 'py',
  text: (value) => JSON.stringify(value),
  filled: 'f"',
  constants: ['True', 'False', 'None'],
  brackets: ['[', ']', '{', '}'],
  colon: ': ',
  variable: lower,
  environment: (name) => `os.environ["${name}"]`,
  now: 'time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())',
  service: (credential) =>
    credential === 'PSP_API_KEY'
      ? 'service'
      : `PaymentService(os.environ["${credential}"], os.environ["PSP_URL"])`,
  call: (service, method, parts) => `${service}.${method}(${parts.join(', ')})`,
  idempotencyKey: (text) => `idempotency_key=${text}`,
  end: '',
  answer: 'answer',
  refused: (call, code) => `try:
    ${call.replaceAll('\n', '\n    ')}
except ApiError as error:
    print(error.code)  # ${code}`,
};

const php: Syntax = {
  language: 'php',
  text: (value) => `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`,
  filled: '"',
  constants: ['true', 'false', 'null'],
  brackets: ['[', ']', '[', ']'],
  colon: ' => ',
  variable: (name) => `$${camel(name)}`,
  environment: (name) => `getenv('${name}')`,
  now: `gmdate('Y-m-d\\TH:i:s\\Z')`,
  service: (credential) =>
    credential === 'PSP_API_KEY'
      ? '$service'
      : `(new PaymentService(getenv('${credential}'), getenv('PSP_URL')))`,
  call: (service, method, parts) => `${service}->${method}(${parts.join(', ')})`,
  idempotencyKey: (text) => text,
  end: ';',
  answer: '$answer',
  refused: (call, code) => `try {
    ${call.replaceAll('\n', '\n    ')};
} catch (ApiError $error) {
    echo $error->errorCode, "\\n"; // ${code}
}`,
};

/** Longer values take a line for each part. */
const line_max_chars = 64;

/** Writes calls of one language; `known`: the variables that earlier snippets have set. */
const writer = (syntax: Syntax, known: ReadonlySet<string>) => {
  const variable = (name: string): string =>
    known.has(name) ? syntax.variable(name) : syntax.environment(name);
  const write = (value: Value, indent: string): string => {
    const [yes, no, nothing] = syntax.constants;
    if (value === null) return nothing;
    if (typeof value === 'boolean') return value ? yes : no;
    if (typeof value === 'number') return String(value);
    if (value === `${mark}NOW`) return syntax.now;
    if (typeof value === 'string')
      return value.startsWith(mark) ? variable(value.slice(mark.length)) : syntax.text(value);
    const [list, listEnd, fields, fieldsEnd] = syntax.brackets;
    const inner = `${indent}    `;
    const parts = (deeper: string): readonly string[] =>
      Array.isArray(value)
        ? value.map((part: Value) => write(part, deeper))
        : Object.entries(value).map(
            ([name, part]) => `${syntax.text(name)}${syntax.colon}${write(part, deeper)}`,
          );
    const [open, close] = Array.isArray(value) ? [list, listEnd] : [fields, fieldsEnd];
    const short = `${open}${parts(inner).join(', ')}${close}`;
    if (!short.includes('\n') && short.length <= line_max_chars) return short;
    return `${open}\n${parts(inner)
      .map((part) => `${inner}${part},\n`)
      .join('')}${indent}${close}`;
  };
  return (made: CurlCall): string => {
    const service = syntax.service(made.credential);
    const rest =
      made.idempotencyKey === null ? [] : [syntax.idempotencyKey(syntax.text(made.idempotencyKey))];
    if (made.path === null) {
      const { query, variables } = made.body as Fields;
      const written = [query, variables].flatMap((part) =>
        part === undefined ? [] : [write(part, '')],
      );
      return syntax.call(service, 'graph', written);
    }
    const filled = made.path.replaceAll(/\$([A-Z_]+)/g, (_, name: string) => `{${variable(name)}}`);
    const path = filled === made.path ? syntax.text(filled) : `${syntax.filled}${filled}"`;
    const body = made.body === undefined ? [] : [write(made.body, '')];
    return syntax.call(service, 'call', [syntax.text(made.method), path, ...body, ...rest]);
  };
};

/** `answer["items"][0]["id"]`. */
const place = (syntax: Syntax, path: string): string =>
  syntax.answer +
  path
    .split('.')
    .map((step) => `[${/^\d+$/.test(step) ? step : syntax.text(step)}]`)
    .join('');

const translate = (block: Block, syntax: Syntax, known: ReadonlySet<string>): Block | null => {
  const made = readCurl(block.code);
  if (!made) return null;
  const call = writer(syntax, known)(made);
  const values = block.values.map(
    ([name, path]) => `${syntax.variable(name)} = ${place(syntax, path)}${syntax.end}`,
  );
  const code =
    block.refused === null
      ? [`${syntax.answer} = ${call}${syntax.end}`, ...values].join('\n')
      : syntax.refused(call, block.refused);
  const imports = code.includes('time.strftime') ? 'import time\n\n' : '';
  return { ...block, language: syntax.language, code: imports + code, values: [] };
};

/** The steps of a guide, each snippet of curl followed by the same in Python and PHP. */
export const inOtherLanguages = (
  steps: readonly (Block | string)[],
): readonly (Block | string)[] => {
  const known = new Set<string>();
  const own = new Set(
    steps.flatMap((step) => (typeof step === 'string' ? [] : [`${step.language} ${step.name}`])),
  );
  return steps.flatMap((step) => {
    if (typeof step === 'string' || step.language !== 'sh') return [step];
    const made = [python, php].flatMap((syntax) => {
      if (own.has(`${syntax.language} ${step.name}`)) return [];
      const block = translate(step, syntax, known);
      return block ? [block] : [];
    });
    for (const [name] of step.values) known.add(name);
    return [step, ...made];
  });
};

/*
 * The functions that verify webhooks, in four languages: as snippets of a guide, and as files below
 * `/docs/webhooks/`. They are the files of `webhook-guide/`. A test runs them.
 */

const verifiers: readonly (readonly [SnippetLanguage, file: string])[] = [
  ['ts', 'verify-webhook.ts'],
  ['py', 'verify_webhook.py'],
  ['php', 'verify-webhook.php'],
  ['go', 'verify_webhook.go'],
];

const sourceOf = (file: string): string =>
  readFileSync(join(import.meta.dirname, '../webhook-guide', file), 'utf8');

export const verifierSnippets = (): readonly Block[] =>
  verifiers.map(([language, file]) =>
    readBlock(`${language} verifier sketch`, sourceOf(file).trimEnd()),
  );

/** What a plain text file is served with. */
const fileHeaders = (cacheControl: string): Readonly<Record<string, string>> => ({
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': cacheControl,
  'content-type': 'text/plain; charset=utf-8',
});

/** Serves each function as a file to download; none needs a key. */
export const serveVerifiers = (app: FastifyInstance, cacheControl: string): void => {
  for (const [, file] of verifiers)
    serveMade(app, `/docs/webhooks/${file}`, () =>
      prepareAnswer(sourceOf(file), fileHeaders(cacheControl)),
    );
};
