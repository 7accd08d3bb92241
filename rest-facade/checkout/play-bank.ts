/**
 * Test mode: the simulated bank that the buyer is sent to. GET shows its page, POST is the buyer's
 * answer there.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isRefusal, type Checkout } from './call-checkout.ts';
import { rememberSwitch, formatAmount } from './language.ts';
import {
  findCheckout,
  pageAddress,
  visitOf,
  type PageContext,
  type TokenRoute,
  guardPage,
  isSameOrigin,
  sendMessage,
} from './page-context.ts';
import { formOf } from './forms.ts';
import type { Words } from './words/en.ts';
import { html, type Html, fact } from './html.ts';
import { methodMarks } from './views/icons.ts';
import { framedView } from './views/page.ts';
import { payableMethod } from './views/pay-form.ts';

/*
 * Test mode: the simulated bank's own page. A plain form, without any script, as some banks still
 * are.
 */

const codeField = (words: Words, wrong: boolean): Html =>
  html` <div class="field ${wrong && 'wrong'}">
    <label for="code">${words.bankCodeLabel}</label>
    <input
      id="code"
      name="code"
      class="code"
      type="text"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="6"
      pattern="[0-9]{6}"
      placeholder="123456"
      autofocus
      aria-describedby="code-problem"
      ${wrong && html`aria-invalid="true"`}
    />
    <p class="problem" id="code-problem" role="alert">${wrong && words.bankCodeWrong}</p>
  </div>`;

const paymentFacts = (checkout: Checkout, words: Words): Html =>
  html`<dl class="facts">
    ${fact(words.bankShop, checkout.shopName)}
    ${fact(words.bankAmount, html`<b>${formatAmount(checkout.amount, checkout.currency, words.locale)}</b>`)}
    ${fact(words.order, checkout.orderId)}
  </dl>`;

/**
 * The bank's page for a card's holder (a code) or for its app (a button). `wrongCode`: what was
 * entered is no code.
 */
const bankPage = (checkout: Checkout, words: Words, wrongCode: boolean): string => {
  const card = checkout.step === 'three_d_secure';
  const method = payableMethod(checkout.method);
  const { title, text } = card
    ? words.bankCode
    : words.bankApp(method ? words.methods[method].name : words.bankName);
  return framedView({
    words,
    title: words.bankPageTitle,
    kind: 'bank',
    test: words.bankNotice,
    top: html`<p class="bank-name">
      <span class="bank-badge" aria-hidden="true"></span>${words.bankName}
    </p>`,
    main: html`<main class="sheet sheet-bank">
      <div class="bank-head">
        ${method && methodMarks[method]}
        <div>
          <h1 class="panel-title">${title}</h1>
          <p class="panel-text">${text}</p>
        </div>
      </div>
      ${paymentFacts(checkout, words)}
      <form method="post" novalidate>
        ${card && codeField(words, wrongCode)}
        <button class="primary" type="submit" name="answer" value="approve">
          <span class="primary-words">${words.bankApprove}</span>
        </button>
        <button class="secondary" type="submit" name="answer" value="decline">
          ${words.bankDecline}
        </button>
      </form>
    </main>`,
  });
};

/** Six digits that the simulated bank takes for a wrong code: the payment is declined (docs/testing.md). */
const wrongTestCode = '000000';

/** Whether the payment waits for its buyer at the bank. */
const awaitsBuyer = (checkout: Checkout): boolean =>
  checkout.status === 'processing' && checkout.step !== null && checkout.step !== 'wait';

const showBank = (
  reply: FastifyReply,
  checkout: Checkout,
  words: Words,
  wrongCode: boolean,
): FastifyReply =>
  reply
    .code(wrongCode ? 422 : 200)
    .type('text/html; charset=utf-8')
    .send(bankPage(checkout, words, wrongCode));

/**
 * Adds the routes. A live payment has no such page; one that does not wait for its buyer is shown
 * on the hosted page.
 */
export const playBank = (app: FastifyInstance, context: PageContext): void => {
  app.get<TokenRoute>('/:token/bank', async (request, reply) => {
    guardPage(reply, 'own form');
    rememberSwitch(request, reply);
    const { words, found } = await findCheckout(context, request);
    if (found?.checkout.mode !== 'test') return sendMessage(reply, 404, 'unknownPage', words);
    if (!awaitsBuyer(found.checkout)) return reply.redirect(pageAddress(request), 303);
    return showBank(reply, found.checkout, words, false);
  });

  app.post<TokenRoute>('/:token/bank', async (request, reply) => {
    guardPage(reply, 'own form');
    const { words, call } = visitOf(context, request);
    if (!call || !isSameOrigin(request, true)) return sendMessage(reply, 404, 'unknownPage', words);
    const form = formOf(request);
    const code = (form.get('code') ?? '').trim();
    const approve = form.get('answer') !== 'decline' && code !== wrongTestCode;
    const coded = /^\d{6}$/.test(code);
    if (isRefusal(await context.calls.confirm(call, { approve, coded }))) {
      const checkout = await context.calls.read(call);
      if (checkout?.mode !== 'test') return sendMessage(reply, 404, 'unknownPage', words);
      if (awaitsBuyer(checkout)) return showBank(reply, checkout, words, true);
    }
    return reply.redirect(pageAddress(request), 303);
  });
};
