/** GET /pay/:token: the hosted page. */
import type { FastifyInstance } from 'fastify';
import { chooseLanguage, rememberSwitch } from './choose-language.ts';
import { findCheckout, pageAddress, type PageContext, type TokenRoute } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { moduleNames } from './serve-assets.ts';
import { drawState } from './state-json.ts';
import { unknownPage } from './views/message.ts';
import { checkoutPage } from './views/page.ts';
import { wordsOf } from './words/words-of.ts';

const htmlType = 'text/html; charset=utf-8';

/**
 * Adds the routes. An unknown token, and any other address under /pay, gets a page about it,
 * with 404: people type and shorten addresses.
 */
export const showPage = (app: FastifyInstance, context: PageContext): void => {
  app.get<TokenRoute>('/:token', async (request, reply) => {
    guardPage(reply);
    rememberSwitch(request, reply);
    const { words, found } = await findCheckout(context, request);
    void reply.type(htmlType).header('content-language', words.language);
    if (!found) return reply.code(404).send(unknownPage(words, context.assets));
    const { checkout } = found;
    const parts = { ...drawState(checkout, words), assets: context.assets, moduleNames };
    return reply.send(checkoutPage(checkout, words, parts));
  });

  for (const address of ['', '/:token/*']) {
    app.get(address, (request, reply) => {
      guardPage(reply);
      const words = wordsOf(chooseLanguage(request));
      return reply
        .code(404)
        .type(htmlType)
        .header('content-language', words.language)
        .send(unknownPage(words, context.assets));
    });
  }

  // Messengers and mail programs like to end an address with a slash.
  app.get<TokenRoute>('/:token/', async (request, reply) => {
    guardPage(reply);
    return reply.redirect(pageAddress(request), 308);
  });
};
