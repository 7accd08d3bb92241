/** Reads a guide's Markdown for display and for search. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Marked, Token, Tokens } from 'marked';
import {
  webhookEvents,
  namedWebhookEvents,
  type WebhookEvent,
} from '../../subgraphs/rules/event.ts';
import { failureCodes, type FailureCode } from '../../subgraphs/rules/failure-code.ts';
import { html, markupText, type Html } from '../checkout/html.ts';
import { examplesOf, readContract } from '../read-contract.ts';
import { refusalHttp, type ErrorCode } from '../refusal-http.ts';
import { english, type CodeTexts } from './errors/en.ts';
import { russian } from './errors/ru.ts';
import { guidePath, type GuideLanguage, type GuideName, guideWords } from './pages.ts';
import { inOtherLanguages, readBlock, tabName, type Block, verifierSnippets } from './snippets.ts';

/** A part of a page that search leads to. */
export interface Section {
  readonly anchor: string;
  readonly title: string;
  readonly depth: number;
  /** Its words, without markup. */
  readonly text: string;
}

export interface Guide {
  readonly title: string;
  /** The first paragraph, as it stands in lists of pages. */
  readonly summary: string;
  readonly main: string;
  readonly sections: readonly Section[];
  /** Its snippets and the steps between them, in order; in the English text only. */
  readonly steps: readonly (Block | string)[];
}

const textOf = (language: GuideLanguage, name: GuideName): string =>
  readFileSync(join(import.meta.dirname, language, `${name}.md`), 'utf8');

const runLine = /^<!-- run: (.+) -->\s*$/;

const isCode = (token: Token): token is Tokens.Code => token.type === 'code';
const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** The anchor of a heading: its words, in its own letters. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** A text without Markdown's marks. */
const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/[\s|]+/g, ' ')
    .trim();

const codeOf = (block: Block, language: GuideLanguage): Html => {
  const words = guideWords[language];
  const name = block.language === 'json' ? words.answer : tabName(block);
  const values = block.values.map(
    ([placeholder, path]) =>
      html`<p class="value">
        <code>$${placeholder}</code> = <code>${path}</code> ${words.valueOf}
      </p>`,
  );
  return html`<div class="code" data-name="${name}" data-language="${block.language}">
    <p class="name">${name}</p>
    <pre tabindex="0"><code>${block.code}</code></pre>
    ${values}
  </div>`;
};

/** A snippet: the same in several languages, then the answer. */
const snippetOf = (blocks: readonly Block[], language: GuideLanguage): string => {
  const order = ['sh', 'ts', 'py', 'php', 'go'];
  const [tabs, answers] = [
    order.flatMap((wanted) => blocks.filter((block) => block.language === wanted)),
    blocks.filter((block) => block.language === 'json'),
  ];
  return markupText(
    html`<div class="snippet" id="${`code-${blocks[0]?.name ?? ''}`}">
      ${tabs.length > 0 && html`<div class="tabs">${tabs.map((block) => codeOf(block, language))}</div>`}${answers.map((block) => codeOf(block, language))}
    </div>`,
  );
};

/** What each event's webhook carries, as the API's description shows it. */
const eventExamples = (language: GuideLanguage): string => {
  const { webhooks } = readContract().described;
  return markupText(
    html`${webhookEvents.map((event) => {
      const [{ value } = { value: null }] = examplesOf(
        webhooks[event]?.post.requestBody?.content ?? {},
      );
      const data = typeof value === 'object' && value !== null && 'data' in value && value.data;
      if (!data) throw new Error(`the description has no example of ${event}`);
      return html`<details>
        <summary><code>${event}</code></summary>
        <div class="code" id="${`data-${event}`}" data-name="${guideWords[language].data}">
          <p class="name">${guideWords[language].data}</p>
          <pre tabindex="0"><code>${JSON.stringify(data, null, 2)}</code></pre>
        </div>
      </details>`;
    })}`,
  );
};

/** The English text's snippets by name, and the steps of a test. */
const snippetsOf = (name: GuideName, tokens: readonly Token[]) => {
  const written: (Block | string)[] = [];
  for (const token of tokens) {
    if (isCode(token)) written.push(readBlock(token.lang ?? '', token.text));
    const [, action] = runLine.exec(token.raw) ?? [];
    if (token.type === 'html' && action) written.push(action);
  }
  const all = inOtherLanguages(written);
  const steps = all.filter((step) => typeof step === 'string' || !step.isSketch);
  const blocks = [
    ...all.filter((step) => typeof step !== 'string'),
    ...(name === 'verify-webhooks' ? verifierSnippets() : []),
  ];
  return { steps, byName: Map.groupBy(blocks, (block) => block.name) };
};

/** Markdown of a language: links to other guides lead to their pages; tables can be scrolled. */
const openMarkdown = async (language: GuideLanguage): Promise<Marked> => {
  const { Marked: Opened } = await import('marked');
  const words = guideWords[language];
  return new Opened({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const [, name, anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
        const address = name ? `/docs/${language}/${name}/${anchor}` : href;
        return `<a href="${address}">${this.parser.parseInline(tokens)}</a>`;
      },
      heading({ depth, text, tokens }) {
        const id = anchorOf(plain(text));
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      table(token) {
        const row = (tag: 'th' | 'td', cells: readonly Tokens.TableCell[]): string =>
          `<tr>${cells
            .map(({ tokens }) => {
              const scope = tag === 'th' ? ' scope="col"' : '';
              return `<${tag}${scope}>${this.parser.parseInline(tokens)}</${tag}>`;
            })
            .join('')}</tr>`;
        const body = token.rows.map((cells) => row('td', cells)).join('');
        return `<div class="wide" tabindex="0" role="group" aria-label="${words.table}"><table><thead>${row('th', token.header)}</thead><tbody>${body}</tbody></table></div>`;
      },
      html: ({ raw }) => {
        if (runLine.test(raw)) return '';
        throw new Error(`a guide has markup of its own: ${raw}`);
      },
    },
  });
};

const sectionsOf = (tokens: readonly Token[]): readonly Section[] => {
  const sections: { anchor: string; title: string; depth: number; text: string }[] = [];
  for (const token of tokens) {
    if (isHeading(token)) {
      const title = plain(token.text);
      const anchor = token.depth === 1 ? '' : anchorOf(title);
      sections.push({ anchor, title, depth: token.depth, text: '' });
      continue;
    }
    const last = sections.at(-1);
    if (last && token.type !== 'html') last.text += ` ${plain(token.raw)}`;
  }
  return sections;
};

// Tables of the guides that follow from the program's own lists, as Markdown.

const texts: Readonly<Record<GuideLanguage, CodeTexts>> = { en: english, ru: russian };

const tableOf = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
};

/** Every code of an error, by its HTTP status. */
const errors = (language: GuideLanguage): string => {
  const { heads, errors: entries } = texts[language];
  // Every code is a key of both.
  const codes = (Object.keys(refusalHttp) as ErrorCode[]).toSorted(
    (a, b) => refusalHttp[a].status - refusalHttp[b].status,
  );
  return tableOf([
    ['HTTP', heads.code, heads.cause, heads.cure],
    ...codes.map((code) => [String(refusalHttp[code].status), `\`${code}\``, ...entries[code]]),
  ]);
};

/** Every reason of a payment, refund or payout that failed. */
const failures = (language: GuideLanguage): string => {
  const { heads, kinds, failures: entries } = texts[language];
  const codes = Object.keys(failureCodes) as FailureCode[];
  return tableOf([
    [heads.code, heads.cause, heads.kind],
    ...codes.map((code) => [`\`${code}\``, entries[code], kinds[failureCodes[code]]]),
  ]);
};

/** Every webhook event; a star marks those that only endpoints get which name them. */
const events = (language: GuideLanguage): string => {
  const { heads, events: entries } = texts[language];
  const named: ReadonlySet<WebhookEvent> = new Set(namedWebhookEvents);
  return tableOf([
    [heads.event, heads.says],
    ...webhookEvents.map((event) => [
      `[\`${event}\`](#data-${event})${named.has(event) ? ' \\*' : ''}`,
      entries[event],
    ]),
  ]);
};

/** The fields of answers that contain an object or a list of them. */
const contents: ReadonlySet<string> = new Set(
  'payment payout receipt subscription card link items rates results'.split(' '),
);

/** Every call that answers with an envelope; those with the same fields stand in one row. */
const envelopes = (language: GuideLanguage): string => {
  const { heads } = texts[language];
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const rows = new Map<string, string[]>();
  for (const { method, path, responses } of readContract().operations.values()) {
    const names = Object.keys((responses['201'] ?? responses['200'])?.properties ?? {});
    const inside = names.filter((name) => contents.has(name));
    if (inside.length === 0 || names.includes('id')) continue;
    const beside = names.filter((name) => !contents.has(name));
    const row = `${code(inside)} | ${code(beside)}`;
    rows.set(row, [...(rows.get(row) ?? []), `${method} ${path.replace('/v1/public', '')}`]);
  }
  const body = [...rows].map(([row, calls]) => [code(calls), row]);
  return tableOf([[heads.call, heads.object, heads.beside], ...body]);
};

export const guideTables = { errors, failures, events, envelopes } as const;

const isGuideTable = (name: string): name is keyof typeof guideTables =>
  Object.hasOwn(guideTables, name);

/** Tables that follow from lists of the program stand where the text has `{{table:...}}`. */
const withTables = (text: string, language: GuideLanguage): string =>
  text.replaceAll(/^\{\{table:([a-z]+)\}\}$/gm, (_, name: string) => {
    if (!isGuideTable(name)) throw new Error(`there is no table ${name}`);
    return guideTables[name](language);
  });

/** The parts of a page, drawn: a run of blocks of one name is one snippet. */
const drawn = (
  tokens: readonly Token[],
  markdown: Marked,
  language: GuideLanguage,
  byName: ReadonlyMap<string, readonly Block[]>,
): string => {
  const shown = new Set<string>();
  const parts = tokens.map((token) => {
    const [, taken] = /^\{\{([a-z0-9-]+)\}\}\s*$/.exec(token.raw) ?? [];
    if (token.raw.trim() === '{{examples:events}}') return eventExamples(language);
    const name = isCode(token) ? readBlock(token.lang ?? '', token.text).name : taken;
    if (name === undefined) return markdown.parser([token]);
    const blocks = byName.get(name);
    if (!blocks) throw new Error(`there is no snippet ${name}`);
    if (shown.has(name)) return '';
    shown.add(name);
    return snippetOf(blocks, language);
  });
  const missing = [...byName.keys()].filter((name) => !shown.has(name));
  if (missing.length > 0) throw new Error(`the text leaves out ${missing.join(', ')}`);
  return parts.join('');
};

/** Reads a guide. Throws when its text breaks a rule of this file. */
export const readGuide = async (language: GuideLanguage, name: GuideName): Promise<Guide> => {
  const markdown = await openMarkdown(language);
  const tokens = markdown.lexer(withTables(textOf(language, name), language));
  const { steps, byName } = snippetsOf(
    name,
    language === 'en' ? tokens : markdown.lexer(withTables(textOf('en', name), 'en')),
  );
  const summary = tokens.find(({ type }) => type === 'paragraph')?.raw ?? '';
  const sections = sectionsOf(tokens);
  return {
    title: sections[0]?.title ?? guidePath(language, name),
    summary: plain(summary),
    main: drawn(tokens, markdown, language, byName),
    sections,
    steps,
  };
};
