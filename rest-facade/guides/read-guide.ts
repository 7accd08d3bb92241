/** Reads a guide's Markdown for display and for search. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Marked, Token, Tokens } from 'marked';
import { webhookEvents } from '../../subgraphs/rules/event.ts';
import { html, markupText, type Html } from '../checkout/html.ts';
import { examplesOf, readContract } from '../read-contract.ts';
import { guidePath, type GuideLanguage, type GuideName } from './pages.ts';
import { inOtherLanguages } from './other-languages.ts';
import { readBlock, tabName, type Block } from './snippets.ts';
import { guideTables, isGuideTable } from './tables.ts';
import { guideWords } from './words.ts';
import { verifierSnippets } from '../webhook-guide/verifiers.ts';

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
  const steps = inOtherLanguages(written);
  const blocks = [
    ...steps.filter((step) => typeof step !== 'string'),
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
