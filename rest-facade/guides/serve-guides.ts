/**
 * The guides: `/docs`, `/docs/en/...` and `/docs/ru/...`. They are Markdown files beside this one,
 * read at the first look, and need no key. Nothing is loaded from elsewhere.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { consoleVersion } from '../../gateway/graphql/read-document.ts';
import { errorJson } from '../../schema/wire.ts';
import { preferredLanguage } from '../checkout/language.ts';
import { html, markupText, type Html, contentPolicy } from '../checkout/html.ts';
import { lookFiles } from '../checkout/serve-assets.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import {
  prepareAnswer,
  sendAnswer,
  serveFiles,
  serveMade,
  type ServedFile,
} from '../fixed-answer.ts';
import { readContract } from '../read-contract.ts';
import {
  guideGroups,
  guideLanguages,
  guideNames,
  guidePath,
  shortPaths,
  type GuideLanguage,
  type GuideName,
  type OtherPage,
  guideWords,
  otherPages,
} from './pages.ts';
import { readGuide, type Guide } from './read-guide.ts';

const headersOf = (cacheControl: string): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': cacheControl,
  'content-security-policy': contentPolicy({ 'form-action': "'self'" }),
});

/** What pages load, by the files that it is made of. */
const assets: readonly ServedFile[] = [
  'guides/browser/guides.js',
  'guides/browser/own-key.js',
  'guides/browser/search.js',
  [
    'guides.css',
    'checkout/browser/base.css',
    'guides/browser/guides.css',
    'guides/browser/snippets.css',
  ],
  ...lookFiles,
];

type Guides = Readonly<Record<GuideName, Guide>>;

const readGuides = async (language: GuideLanguage): Promise<Guides> => {
  const read = await Promise.all(
    guideNames.map(async (name) => [name, await readGuide(language, name)] as const),
  );
  // Every name is there.
  return Object.fromEntries(read) as Guides;
};

/** The guides of each language, read once. */
const guidesOf = {
  en: lazily(() => readGuides('en')),
  ru: lazily(() => readGuides('ru')),
} as const satisfies Readonly<Record<GuideLanguage, () => Promise<Guides>>>;

const otherThan = (language: GuideLanguage): GuideLanguage => (language === 'en' ? 'ru' : 'en');

// What every page of the documentation but the reference has around its text.

const openApiPath = '/v1/public/openapi.json';

/** A page as it stands in the frame. */
interface FramedPage {
  readonly language: GuideLanguage;
  readonly path: string;
  readonly title: string;
  /** Its markup, which is safe: written by us, or escaped. */
  readonly main: string;
  /** Its second headings, by anchor. */
  readonly sections?: readonly { readonly anchor: string; readonly title: string }[];
  /** The same page in the other language; null where there is none. */
  readonly elsewhere?: string | null;
}

const linkTo = (path: string, name: string, current: string): Html =>
  html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${name}</a></li>`;

/** The guides by their groups. */
const groupsOf = (
  language: GuideLanguage,
  view: (name: GuideName) => Html,
  kind: string | null = null,
) =>
  guideGroups.map(
    ({ group, names }) =>
      html`<h2>${guideWords[language].groups[group]}</h2>
        <ul ${kind && html`class="${kind}"`}>
          ${names.map(view)}
        </ul>`,
  );

const menuOf = ({ language, path }: FramedPage, guides: Guides): Html => {
  const words = guideWords[language];
  const groups = groupsOf(language, (name) =>
    linkTo(guidePath(language, name), guides[name].title, path),
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
const neighboursOf = ({ language, path }: FramedPage, guides: Guides): Html | null => {
  const words = guideWords[language];
  const at = guideNames.findIndex((name) => guidePath(language, name) === path);
  if (at === -1) return null;
  const one = (name: GuideName | undefined, word: string, rel: string): Html | null =>
    name === undefined
      ? null
      : html`<a href="${guidePath(language, name)}" rel="${rel}"
          ><span>${word}</span>${guides[name].title}</a
        >`;
  return html`<nav class="neighbours" aria-label="${`${words.previous}, ${words.next}`}">
    ${one(guideNames[at - 1], words.previous, 'prev')}${one(guideNames[at + 1], words.next, 'next')}
  </nav>`;
};

const topOf = ({ language, elsewhere = null }: FramedPage): Html => {
  const words = guideWords[language];
  const other = otherThan(language);
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
const framed = (page: FramedPage, guides: Guides): string => {
  const { language, title, elsewhere = null, sections = [] } = page;
  const words = guideWords[language];
  const other = otherThan(language);
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
            <main id="text" tabindex="-1">{{main}} ${neighboursOf(page, guides)}</main>
            ${
              sections.length > 1 &&
              html`<nav class="sections" aria-label="${words.onThisPage}">
                <h2>${words.onThisPage}</h2>
                <ul>
                  ${sections.map(({ anchor, title: name }) => html`<li><a href="#${anchor}">${name}</a></li>`)}
                </ul>
              </nav>`
            }
            ${menuOf(page, guides)}
          </div>
        </body>
      </html> `,
  );
  return shown.replace('{{main}}', () => page.main);
};

/** The first page of a language: all guides with their first sentences. */
const makeHome = async (language: GuideLanguage): Promise<string> => {
  const guides = await guidesOf[language]();
  const words = guideWords[language];
  const groups = groupsOf(
    language,
    (name) =>
      html`<li>
        <a href="${guidePath(language, name)}">${guides[name].title}</a>
        <p>${guides[name].summary}</p>
      </li>`,
    'cards',
  );
  const main = html`<h1>${words.title}</h1>
    <p>${words.introduction}</p>
    ${groups}`;
  return framed(
    {
      language,
      path: `/docs/${language}/`,
      title: words.title,
      main: markupText(main),
      elsewhere: `/docs/${otherThan(language)}/`,
    },
    guides,
  );
};

const makeGuide = async (language: GuideLanguage, name: GuideName): Promise<string> => {
  const guides = await guidesOf[language]();
  const { title, main, sections } = guides[name];
  return framed(
    {
      language,
      path: guidePath(language, name),
      title,
      main,
      sections: sections.filter(({ depth }) => depth === 2),
      elsewhere: guidePath(otherThan(language), name),
    },
    guides,
  );
};

/** The operations of the reference, which is in English: their addresses and words. */
const operationsOf = (language: GuideLanguage) => {
  const { paths, tags } = readContract().described;
  const anchors = new Map(tags.map(({ name }) => [name, name.toLowerCase().replaceAll(' ', '-')]));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([
        method,
        {
          summary,
          description = '',
          tags: [tag = ''],
        },
      ]) => ({
        u: `/docs/reference/#tag/${anchors.get(tag) ?? ''}/${method.toUpperCase()}${path}`,
        p: guideWords[language].pages['/docs/reference/'],
        t: summary,
        x: `${method.toUpperCase()} ${path} ${description.replaceAll(/\s+/g, ' ')}`,
      }),
    ),
  );
};

/** The search index: each section with its address and words, then each operation. */
const makeIndex = async (language: GuideLanguage): Promise<string> => {
  const guides = await guidesOf[language]();
  const sections = guideNames.flatMap((name) =>
    guides[name].sections.map(({ anchor, title, text }) => ({
      u: `${guidePath(language, name)}${anchor === '' ? '' : `#${anchor}`}`,
      p: guides[name].title,
      t: title,
      x: text.trim(),
    })),
  );
  return JSON.stringify([...sections, ...operationsOf(language)]);
};

/** A page beside the guides, in their frame: `main` is its markup. */
export const serveOtherPage = (
  app: FastifyInstance,
  path: OtherPage,
  main: () => string | Promise<string>,
  cacheControl: string,
): void =>
  serveMade(app, path, async () => {
    const page = {
      language: 'en',
      path,
      title: guideWords.en.pages[path],
      main: await main(),
    } as const;
    return prepareAnswer(framed(page, await guidesOf.en()), headersOf(cacheControl));
  });

/** The first page under `/docs` itself, in the reader's language; English without one. */
const serveStart = (app: FastifyInstance, cacheControl: string): void => {
  const headers = { ...headersOf(cacheControl), vary: 'accept-language' };
  const make = (language: GuideLanguage) =>
    lazily(async () => prepareAnswer(await makeHome(language), headers));
  const made = { en: make('en'), ru: make('ru') };
  for (const address of ['/docs', '/docs/'])
    app.get(address, async (request, reply) =>
      sendAnswer(request, reply, await made[wantedLanguage(request)]()),
    );
};

/** The reader's language; English without a preference. */
const wantedLanguage = ({ headers }: FastifyRequest): GuideLanguage =>
  headers['accept-language'] === undefined ? 'en' : preferredLanguage(headers['accept-language']);

/** Leads from an address without a language to the guide in the reader's. */
const serveShort = (app: FastifyInstance): void => {
  for (const [path, name] of Object.entries(shortPaths))
    for (const address of [path, `${path}/`])
      app.get(address, (request, reply) =>
        reply
          .header('vary', 'accept-language')
          .redirect(guidePath(wantedLanguage(request), name), 302),
      );
};

/** A browser that asks for a page that is not there gets one that leads on; programs get JSON. */
const serveNowhere = (app: FastifyInstance): void => {
  app.get('/docs/*', async (request, reply) => {
    if (!request.headers.accept?.includes('text/html'))
      return reply.code(404).send(errorJson('not_found', 'there is nothing at this address'));
    const language = preferredLanguage(request.headers['accept-language']);
    const words = guideWords[language];
    const main = html`<h1>${words.nowhere}</h1>
      <p>${words.nowhereText}</p>`;
    const page = { language, path: '/docs/', title: words.nowhere, main: markupText(main) };
    const text = framed(page, await guidesOf[language]());
    return reply.code(404).headers(headersOf('no-store')).send(text);
  });
};

/** Adds the guides, and what their pages load. */
export const serveGuides = (app: FastifyInstance, cacheControl: string): void => {
  const headers = headersOf(cacheControl);
  serveStart(app, cacheControl);
  serveShort(app);
  serveNowhere(app);
  for (const language of guideLanguages) {
    serveMade(app, `/docs/${language}/`, async () =>
      prepareAnswer(await makeHome(language), headers),
    );
    serveMade(app, `/docs/${language}/search.json`, async () =>
      prepareAnswer(await makeIndex(language), {
        ...headers,
        'content-type': 'application/json; charset=utf-8',
      }),
    );
    for (const name of guideNames)
      serveMade(app, guidePath(language, name), async () =>
        prepareAnswer(await makeGuide(language, name), headers),
      );
  }
  serveFiles(app, '/docs/assets/', assets, cacheControl);
};
