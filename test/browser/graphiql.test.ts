import { describe, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { registerGateway } from '../../gateway/graphql/server.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { openParts } from '../gateway/serve-graph.ts';
import { operatorToken, silent } from '../gateway/small-graph.ts';
import { eventually } from '../support/eventually.ts';
import { noChromium, startChromium } from './chromium.ts';

/** GraphiQL over a small fixture, in a browser that reaches nothing else. */
const openPage = async (t: TestContext) => {
  const parts = await openParts();
  const app = openHttp({
    config: { publicUrl: null },
    log: silent,
    ready: async () => true,
    overload: null,
  });
  await registerGateway(app, parts);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await startChromium();
  t.after(async () => {
    await browser.close();
    await app.close();
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const elsewhere: string[] = [];
  const complaints: string[] = [];
  await page.route(
    (address) => address.origin !== url && address.protocol.startsWith('http'),
    (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    },
  );
  page.on('console', (message) => {
    // The schema is asked for before there is a key.
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('401'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${url}/graphql`);
  return { ...parts, page, url, elsewhere, complaints };
};

const write = async (page: Page, editor: string, text: string): Promise<void> => {
  await page.locator(editor).locator('visible=true').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
};

const run = (page: Page): Promise<void> => page.getByRole('button', { name: /^execute/i }).click();

/** Waits until the answer holds the text. */
const answered = (page: Page, text: string): Promise<void> =>
  page.locator('.graphiql-response').getByText(text).first().waitFor();

describe('GraphiQL', { skip: noChromium }, () => {
  test('comes from the service alone, and runs a query and a subscription with the key of the headers editor', async (t) => {
    const { fixture, page, elsewhere, complaints } = await openPage(t);
    await write(
      page,
      '.graphiql-editor-tool .monaco-editor',
      JSON.stringify({ Authorization: `Bearer ${operatorToken}` }),
    );
    await write(page, '.graphiql-query-editor .monaco-editor', '{ merchant(id: "m1") { name } }');
    await run(page);
    await answered(page, '"Merchant of the test"');

    await write(
      page,
      '.graphiql-query-editor .monaco-editor',
      'subscription { paymentCreated { payment { shop { name } } } }',
    );
    await run(page);
    await page.getByRole('button', { name: /^stop/i }).waitFor();
    // The server has no message for "listening".
    const shop = page.locator('.graphiql-response').getByText('"Shop s1"').first();
    await eventually(async () => {
      await fixture.happen();
      return shop.isVisible();
    }, 'an event in the answer');

    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    assert(!kept.includes(operatorToken), 'the token is in the storage of the browser');
    assert.deepEqual({ elsewhere, complaints }, { elsewhere: [], complaints: [] });
  });
});
