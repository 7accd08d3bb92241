/** `/`: where everything is, as a page for people and as JSON for programs. */
import type { FastifyInstance } from 'fastify';
import { preferredLanguage } from '../checkout/choose-language.ts';
import { html, markupText } from '../checkout/html.ts';
import { guardPage } from '../checkout/page-headers.ts';

const places = {
  console: '/console/',
  documentation: '/docs',
  openapi: '/v1/public/openapi.json',
  graphql: '/graphql',
  rest: '/v1/public',
} as const;

const texts = {
  en: {
    title: 'Payment service',
    text: 'Payments, payouts and subscriptions for merchants: a REST API, a GraphQL graph and a hosted page.',
    console: 'Open the console',
    links: [
      ['/docs/en/', 'Documentation'],
      ['/docs/reference/', 'API reference'],
      ['/docs/notes/', 'Notes on the API'],
      ['/docs/webhooks/', 'Verifying webhooks'],
      ['/graphql', 'GraphQL'],
    ],
  },
  ru: {
    title: 'Платёжный сервис',
    text: 'Платежи, выплаты и подписки для магазинов: REST API, граф GraphQL и страница оплаты.',
    console: 'Открыть консоль',
    links: [
      ['/docs/ru/', 'Документация'],
      ['/docs/reference/', 'Справочник API'],
      ['/docs/notes/', 'Заметки об API'],
      ['/docs/webhooks/', 'Проверка вебхуков'],
      ['/graphql', 'GraphQL'],
    ],
  },
} as const;

/** Adds the page. */
export const serveStartPage = (app: FastifyInstance): void => {
  app.get('/', (request, reply) => {
    void reply.header('vary', 'accept, accept-language');
    if (!(request.headers.accept ?? '').includes('text/html'))
      return reply.send({ name: 'payment-service', ...places });
    const language = preferredLanguage(request.headers['accept-language']);
    const words = texts[language];
    guardPage(reply);
    const page = html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${words.title}</title>
          <link rel="stylesheet" href="/console/enter/enter.css" />
          <link rel="icon" href="/console/enter/icon.svg" type="image/svg+xml" />
        </head>
        <body>
          <main>
            <img src="/console/enter/icon.svg" alt="" />
            <h1>${words.title}</h1>
            <p>${words.text}</p>
            <a class="go" href="/console/">${words.console}</a>
            <ul>
              ${words.links.map(([address, name]) => html`<li><a href="${address}">${name}</a></li>`)}
            </ul>
          </main>
        </body>
      </html>`;
    return reply.type('text/html; charset=utf-8').send(markupText(page));
  });
};
