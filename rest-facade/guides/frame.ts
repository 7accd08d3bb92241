/** What every page of the documentation but the reference has around its text. */
import { consoleVersion } from '../../gateway/graphql/console-documents.ts';
import { html, markupText, type Html } from '../checkout/html.ts';
import { guideGroups, guidePath, otherPages, type GuideLanguage, type GuideName } from './pages.ts';
import { guideWords } from './words.ts';

const openApiPath = '/v1/public/openapi.json';

/** A page as it stands in the frame. */
interface FramedPage {
  readonly language: GuideLanguage;
  readonly path: string;
  readonly title: string;
  /** Its markup, which is safe: written by us, or escaped. */
  readonly main: string;
  /** Its second headings, by anchor. */
  readonly sections: readonly { readonly anchor: string; readonly title: string }[];
  /** The same page in the other language; null where there is none. */
  readonly elsewhere: string | null;
}

/** Titles of the guides of a language. */
export type GuideTitles = Readonly<Record<GuideName, string>>;

const linkTo = (path: string, name: string, current: string): Html =>
  html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${name}</a></li>`;

const menuOf = ({ language, path }: FramedPage, titles: GuideTitles): Html => {
  const words = guideWords[language];
  const groups = guideGroups.map(
    ({ group, names }) =>
      html`<h2>${words.groups[group]}</h2>
        <ul>
          ${names.map((name) => linkTo(guidePath(language, name), titles[name], path))}
        </ul>`,
  );
  const others = otherPages.map((other) => linkTo(other, words.pages[other], path));
  return html`<nav class="menu" id="menu" aria-label="${words.menu}">
    ${groups}
    <h2>${words.reference}</h2>
    <ul>
      ${others}
      <li><a href="${openApiPath}">${words.description}</a></li>
      <li><a href="/docs/postman.json" download>${words.postman}</a></li>
    </ul>
  </nav>`;
};

/** The pages before and after it. */
const neighboursOf = ({ language, path }: FramedPage, titles: GuideTitles): Html | null => {
  const words = guideWords[language];
  const names = guideGroups.flatMap((group) => [...group.names]);
  const at = names.findIndex((name) => guidePath(language, name) === path);
  if (at === -1) return null;
  const one = (name: GuideName | undefined, word: string, rel: string): Html | null =>
    name === undefined
      ? null
      : html`<a href="${guidePath(language, name)}" rel="${rel}"
          ><span>${word}</span>${titles[name]}</a
        >`;
  return html`<nav class="neighbours" aria-label="${`${words.previous}, ${words.next}`}">
    ${one(names[at - 1], words.previous, 'prev')}${one(names[at + 1], words.next, 'next')}
  </nav>`;
};

const topOf = ({ language, elsewhere }: FramedPage): Html => {
  const words = guideWords[language];
  const other = language === 'en' ? 'ru' : 'en';
  return html`<header class="top">
    <a class="home" href="/docs/${language}/"
      ><img src="/docs/assets/icon.svg" alt="" width="28" height="28" />${words.title}</a
    >
    <form class="search" role="search" hidden>
      <input
        type="search"
        name="q"
        aria-label="${words.search}"
        placeholder="${words.search}"
        autocomplete="off"
        spellcheck="false"
      />
      <div class="found" hidden></div>
      <p class="unseen" role="status"></p>
    </form>
    <a class="to-menu" href="#menu">${words.menu}</a
    >${elsewhere !== null && html`<a class="language" href="${elsewhere}" hreflang="${other}" lang="${other}">${words.otherLanguage}</a>`}
  </header>`;
};

/** The page as HTML. Pages beside the guides have no snippets in tabs, and so no script. */
export const framed = (page: FramedPage, titles: GuideTitles): string => {
  const { language, title, elsewhere, sections } = page;
  const words = guideWords[language];
  const other = language === 'en' ? 'ru' : 'en';
  const shown = markupText(
    html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title === words.title ? title : `${title} - ${words.title}`}</title>
          <link rel="stylesheet" href="/docs/assets/guides.css" />
          <link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml" />
          ${elsewhere !== null && html`<link rel="alternate" hreflang="${other}" href="${elsewhere}" />`}
          ${elsewhere !== null && html`<script src="/docs/assets/guides.js" type="module"></script>`}
        </head>
        <body data-words="${JSON.stringify(words.script)}" data-console="${consoleVersion()}">
          <a class="skip" href="#text">${words.skip}</a>
          ${topOf(page)}
          <div class="columns">
            <main id="text" tabindex="-1">{{main}} ${neighboursOf(page, titles)}</main>
            ${
              sections.length > 1 &&
              html`<nav class="sections" aria-label="${words.onThisPage}">
                <h2>${words.onThisPage}</h2>
                <ul>
                  ${sections.map(({ anchor, title: name }) => html`<li><a href="#${anchor}">${name}</a></li>`)}
                </ul>
              </nav>`
            }
            ${menuOf(page, titles)}
          </div>
        </body>
      </html> `,
  );
  return shown.replace('{{main}}', () => page.main);
};
