/** The console behind TLS, as it is in production: a terminator in front of plain HTTP. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { noChromium, startChromium } from '../browser/chromium.ts';
import { patience_ms } from '../support/eventually.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPassage } from '../support/passage.ts';
import { startOwn } from '../support/plain-service.ts';
import { go } from './console-window.ts';
import { makeLink } from './visitor.ts';

const without =
  noChromium ||
  (spawnSync('openssl', ['version']).status === 0
    ? false
    : 'there is no openssl to make a certificate');

/** A certificate of its own name. */
const makeCertificate = (): { readonly key: Buffer; readonly cert: Buffer } => {
  const folder = mkdtempSync(join(tmpdir(), 'console-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout ${key} -out ${cert}`.split(
        ' ',
      ),
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Ends TLS, and passes the bytes on to the port that `to` gives, those of sockets, too. */
const terminate = async (to: () => number) => {
  const { pass, cut } = openPassage(to);
  const server = createServer(makeCertificate(), pass);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stop: () => {
      cut();
      server.close();
    },
  };
};

describe('over https', { skip: without }, () => {
  test('the session is a __Host- cookie out of reach of scripts and other sites, and all works by it', async () => {
    let plainPort = 0;
    const { port, stop } = await terminate(() => plainPort);
    const service = await startOwn({ PUBLIC_URL: `https://localhost:${port}` });
    plainPort = Number(new URL(service.rest).port);
    const browser = await startChromium();
    try {
      const link = await makeLink(service.rest);
      assert.ok(link.startsWith(`https://localhost:${port}/console/enter#`));
      const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
      context.setDefaultTimeout(patience_ms);
      const page = await context.newPage();
      await page.goto(link);
      await page.waitForURL('**/console/');
      const cookies = await context.cookies();
      assert.deepEqual(
        cookies.map(({ name, secure, httpOnly, sameSite, path, domain }) => ({
          name,
          secure,
          httpOnly,
          sameSite,
          path,
          domain,
        })),
        [
          {
            name: '__Host-console',
            secure: true,
            httpOnly: true,
            sameSite: 'Lax',
            path: '/',
            domain: 'localhost',
          },
        ],
      );
      assert.equal(await page.evaluate('document.cookie'), '');
      const merchant = await makeMerchant(service);
      await go(
        page,
        `https://localhost:${port}/console/payments?mode=test&merchant=${merchant.id}`,
      );
      await page.getByRole('heading', { name: 'No payments yet' }).waitFor();
      await page.locator('.live-dot[data-open=true]').waitFor();
      await merchant.call('POST', '/payments', { amount: 1_000, order_id: 'o-1', method: 'cards' });
      await page.getByRole('row', { name: /o-1/ }).waitFor();
      // The name without the prefix is another cookie, and no session.
      const value = cookies[0]?.value ?? '';
      const plain = await fetch(`${service.rest}/console/session`, {
        headers: { cookie: `console=${value}` },
      });
      assert.equal(plain.status, 401);
      await page.getByRole('button', { name: /^Person/ }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
      await page.waitForURL('**/console/enter');
      assert.deepEqual(await context.cookies(), []);
    } finally {
      await browser.close();
      stop();
      await service.stop();
    }
  });
});
