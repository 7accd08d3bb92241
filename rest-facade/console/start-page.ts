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
      ['/docs/en/', 'Documentation', 'Guides from the first payment to going live'],
      ['/docs/reference/', 'API reference', 'Every route with its fields and errors'],
      ['/docs/webhooks/', 'Verifying webhooks', 'Functions in TypeScript, Python, PHP and Go'],
      ['/graphql', 'GraphQL', 'The whole graph, to explore in the browser'],
    ],
  },
  ru: {
    title: 'Платёжный сервис',
    text: 'Платежи, выплаты и подписки для магазинов: REST API, граф GraphQL и страница оплаты.',
    console: 'Открыть консоль',
    links: [
      ['/docs/ru/', 'Документация', 'От первого платежа до боевого режима'],
      ['/docs/reference/', 'Справочник API', 'Все методы, поля и ошибки (на английском)'],
      [
        '/docs/webhooks/',
        'Проверка вебхуков',
        'Функции на TypeScript, Python, PHP и Go (на английском)',
      ],
      ['/graphql', 'GraphQL', 'Весь граф — в браузере'],
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
            <ul class="places">
              ${words.links.map(
                ([address, name, about]) =>
                  html`<li>
                    <a href="${address}"><strong>${name}</strong> <span>${about}</span></a>
                  </li>`,
              )}
            </ul>
          </main>
        </body>
      </html>`;
    return reply.type('text/html; charset=utf-8').send(markupText(page));
  });
};
