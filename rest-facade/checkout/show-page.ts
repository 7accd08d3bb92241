/** GET /pay/:token: the hosted page. */
import type { FastifyInstance } from 'fastify';
import { findCheckout, type PageContext, type TokenRoute } from './page-context.ts';
import { guardPage } from './page-headers.ts';
import { moduleNames } from './serve-assets.ts';
import { unknownPage } from './views/message.ts';
import { checkoutPage } from './views/page.ts';

const htmlType = 'text/html; charset=utf-8';

/** Adds the route. An unknown token gets a page that says so, with 404. */
export const showPage = (app: FastifyInstance, context: PageContext): void => {
  app.get<TokenRoute>('/:token', async (request, reply) => {
    guardPage(reply);
    const { words, found } = await findCheckout(context, request, reply);
    void reply.type(htmlType).header('content-language', words.language);
    if (!found) return reply.code(404).send(unknownPage(words, context.assets));
    return reply.send(checkoutPage(found.checkout, words, new Date().toISOString(), context.assets, moduleNames));
  });
};
