/** Links for named persons: whom they let in, what the command refuses, two people at work. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { consoleOperations, someVariables } from '../support/console-operations.ts';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { inherited, operatorToken } from '../support/service.ts';
import { go, openConsole, type ConsoleWindow } from './console-window.ts';
import { proposePayout } from './propose-payout.ts';
import { openVisitor, type Visitor } from './visitor.ts';

const root = join(import.meta.dirname, '../..');
let service: ServiceInUse;
let merchant: Merchant;
before(async () => {
  service = await openPlainService();
  merchant = await makeMerchant(service);
});
after(() => service.stop());

/** What the command prints and ends with, with these words behind it. */
const command = async (...words: readonly string[]) => {
  const { hostname, port } = new URL(service.rest);
  const child = spawn(process.execPath, ['main.ts', 'console:link', ...words], {
    cwd: root,
    env: {
      ...inherited,
      HOST: hostname,
      PORT: port,
      OPERATOR_TOKEN: operatorToken,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, refused] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (refused += text.toString()));
  const [code] = await once(child, 'close');
  return { code, printed: printed.trim(), refused: refused.trim() };
};

/** Asks for a link as the command does. */
const askLink = async (asked: Readonly<Record<string, string>>): Promise<any> => {
  const answer = await fetch(`${service.rest}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  return answer.json();
};

/** A link for a person of the merchant. */
const linkFor = async (person: string, role: string): Promise<string> =>
  (await askLink({ person, role, merchant: merchant.id })).url;

describe('npm run console:link for a person', () => {
  test('prints a link by which that person is in, with the role and the merchant', async () => {
    const words = ['--person', 'anna@tea.example', '--role', 'finance', '--merchant', merchant.id];
    const { code, printed, refused } = await command(...words);
    assert.deepEqual([code, refused], [0, '']);
    const visitor = openVisitor(service.rest);
    assert.equal(await visitor.enter(printed), 201);
    const session: any = await (await visitor.call('GET', '/console/session')).json();
    assert.deepEqual(
      [session.subject, session.role, session.merchant_id],
      ['anna@tea.example', 'finance', merchant.id],
    );
    assert.equal(await openVisitor(service.rest).enter(printed), 401, 'it is good once');
    const { auditLog } = await askGraph(
      service,
      'query ($m: ID) { auditLog(first: 1, merchantId: $m, action: "console_session.open") { nodes { actor role after } } }',
      { m: merchant.id },
    );
    assert.deepEqual(auditLog.nodes, [
      { actor: 'anna@tea.example', role: 'finance', after: { by: 'link' } },
    ]);
  });

  test('without words is for an administrator, as before', async () => {
    const { printed } = await command();
    const visitor = openVisitor(service.rest);
    assert.equal(await visitor.enter(printed), 201);
    const session: any = await (await visitor.call('GET', '/console/session')).json();
    assert.deepEqual(
      [session.subject, session.role, session.merchant_id],
      ['console-link', 'admin', null],
    );
  });

  test('refuses with one sentence, and prints no link', async () => {
    for (const [words, sentence] of [
      [
        ['anna', 'finance'],
        'npm run console:link takes -- --person <name> --role <role> [--merchant <id>], not: anna finance',
      ],
      [['--role', 'finance'], 'person: required with role or merchant'],
    ] as const)
      assert.deepEqual(await command(...words), { code: 1, printed: '', refused: sentence });
  });

  test('is refused by the service for what names no person, no role or no merchant', async () => {
    const roles = 'role: expected one of viewer, support, finance, admin';
    for (const [asked, sentence] of [
      [{ person: 'anna' }, roles],
      [{ person: 'anna', role: 'boss' }, roles],
      [
        { person: 'Anna', role: 'admin' },
        'person: expected up to 64 of a-z, 0-9 and . _ @ + -, such as anna or anna@shop.example',
      ],
      [
        { person: 'operator-token', role: 'admin' },
        'person: operator-token is reserved and cannot name a person',
      ],
      [{ person: 'anna', role: 'admin', merchant: 'tea' }, "merchant: expected the merchant's id"],
      [
        { person: 'anna', role: 'admin', merchant: randomUUID() },
        'merchant: there is no such merchant',
      ],
    ] as const)
      assert.equal((await askLink(asked)).error.message, sentence);
  });
});

test('a viewer by a link is refused all that changes anything; kept views are the person alone', async () => {
  const visitor = openVisitor(service.rest);
  assert.equal(await visitor.enter(await linkFor('vera', 'viewer')), 201);
  const sent = consoleOperations().filter(({ kind }) => kind === 'mutation');
  assert.ok(sent.length > 40, `${sent.length} mutations`);
  const allowed: string[] = [];
  for (const operation of sent) {
    const answer = await visitor.ask(operation.name, someVariables(operation, merchant.id));
    const code = answer.errors?.[0]?.extensions?.code;
    if (code !== 'forbidden') allowed.push(`${operation.name} ${code ?? ''}`.trim());
  }
  assert.deepEqual(allowed.toSorted(), ['DeleteView', 'SaveView']);
});

const atWork = async (person: string, role: string): Promise<ConsoleWindow> => {
  const window = await openConsole(service.rest, null);
  await window.page.goto(await linkFor(person, role));
  await window.page.waitForURL('**/console/');
  return window;
};

/** The same person as a program that has the browser's cookie. */
const visitorOf = async ({ context }: ConsoleWindow): Promise<Visitor> => {
  const cookies = await context.cookies(service.rest);
  const visitor = openVisitor(service.rest);
  visitor.become(cookies.map(({ name, value }) => `${name}=${value}`).join('; '));
  return visitor;
};

describe('two people by links', { skip: noChromium }, () => {
  test('one proposes and cannot approve, another approves, the payout runs, the audit names both', async () => {
    const { body } = await merchant.call('POST', '/payments', { amount: 500_000, method: 'cards' });
    await payByCard(body.payment_url);
    const [anna, boris] = [await atWork('anna', 'finance'), await atWork('boris', 'finance')];
    const drafts = `${service.rest}/console/payouts?mode=test&tab=drafts`;
    await go(anna.page, `${service.rest}/console/payouts?mode=test`);
    await proposePayout(anna.page, '300,25', 'Ivanov K.');
    await go(anna.page, drafts);
    const own = anna.page.getByRole('row', { name: /Ivanov K\./ });
    const button = own.getByRole('button', { name: /Approve/ });
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    assert.match((await button.getAttribute('title')) ?? '', /another person approves/);

    const [asAnna, asBoris] = [await visitorOf(anna), await visitorOf(boris)];
    const { data } = await asAnna.ask('Drafts', {
      merchantId: merchant.id,
      filter: { mode: ['test'] },
    });
    const [{ id, createdBy }] = data.payoutDrafts.nodes;
    assert.equal(createdBy, 'anna');
    const draft = { merchantId: merchant.id, id };
    const refused = await asAnna.ask('ApproveDraft', draft);
    assert.equal(refused.data.payoutDraftApprove.__typename, 'Refused', JSON.stringify(refused));

    await go(boris.page, drafts);
    await boris.page
      .getByRole('row', { name: /Ivanov K\./ })
      .getByRole('button', { name: 'Approve' })
      .click();
    const dialog = boris.page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('Approved. The payout:').waitFor();
    await go(anna.page, `${service.rest}/console/payouts?mode=test`);
    const made = anna.page.getByRole('row', { name: /Ivanov K\./ });
    await made.getByText('Paid out').waitFor();

    const read = await asBoris.ask('Draft', draft);
    assert.equal(read.data.payoutDraft.decidedBy, 'boris');
    const { auditLog } = await askGraph(
      service,
      'query ($m: ID, $id: String) { auditLog(first: 10, merchantId: $m, subjectId: $id) { nodes { actor role action } } }',
      { m: merchant.id, id },
    );
    const entries = auditLog.nodes.map(({ actor, action }: any) => `${actor} ${action}`);
    assert.ok(entries.includes('anna payout_draft.create'), entries.join());
    assert.ok(entries.includes('boris payout_draft.approve'), entries.join());
    assert.ok(!entries.some((entry: string) => entry.startsWith('anna payout_draft.approve')));
    assert.deepEqual([...anna.complaints, ...boris.complaints], []);
  });
});
