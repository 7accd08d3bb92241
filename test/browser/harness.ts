/** A running service with a merchant, whose payments a test opens in a browser. */
import type { BrowserContext, Page } from 'playwright-core';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { openPlainService, startOwn } from '../support/plain-service.ts';
import {
  type Browser,
  openWindow,
  startChromium,
  type Visitor,
  watchComplaints,
} from './chromium.ts';
import { eventually } from '../support/eventually.ts';

export interface Created {
  readonly id: string;
  /** The hosted page. */
  readonly url: string;
  /** The payment as the merchant reads it. */
  read(): Promise<
    {
      readonly status: string;
      readonly method: string;
      readonly metadata: Readonly<Record<string, string>>;
    } & Record<string, unknown>
  >;
}

export interface Harness {
  /** Creates a payment; 1,250 RUB of order A-10422 by default. */
  create(body?: Readonly<Record<string, unknown>>): Promise<Created>;
  /** Starts a subscription, 990 RUB a month by default; gives the payment that binds its method. */
  subscribe(body?: Readonly<Record<string, unknown>>): Promise<Created>;
  /** The platform says who the merchant is. */
  setProfile(profile: Readonly<Record<string, string>>): Promise<void>;
  /** Makes a payment link, of 1,250 RUB by default. */
  link(body?: Readonly<Record<string, unknown>>): Promise<Pick<Created, 'url'>>;
  cancel(payment: Created): Promise<void>;
  /**
   * Leaves the payment as a process does that died half a minute ago, between its move and the
   * order.
   */
  loseOrder(payment: Created): Promise<void>;
  /** Captures so much of a payment that is held. */
  capture(payment: Created, amount: number): Promise<void>;
  /** Gives money of a payment back; without an amount, all of it. */
  refund(
    payment: Created,
    body: { readonly amount?: number; readonly reason?: string },
  ): Promise<void>;
  /** Waits until the payment is in a status; gives it as the merchant reads it. */
  until(payment: Created, status: string): Promise<Record<string, unknown>>;
  /** Lets the payment's link end so many seconds from now. */
  endLink(payment: Created, in_s: number): Promise<void>;
  /** Everything that the service printed. */
  printed(): Promise<string>;
  close(): Promise<void>;
}

/** What only the database can change: the times of a payment, and an order that is lost. */
const changesOf = (database: pg.Client): Pick<Harness, 'loseOrder' | 'endLink'> => ({
  loseOrder: async ({ id }) => {
    await database.query(
      `update payment set status = 'processing', connector = 'simulator', bank_name = 'Simulator', step = 'wait', processing_until = now() + interval '20 minutes',
        ordered_at = now() - interval '31 seconds', ask_at = now(), version = version + 1 where id = $1 and status = 'pending'`,
      [id],
    );
  },
  endLink: async ({ id }, in_s) => {
    await database.query(
      `update payment set expires_at = now() + $2 * interval '1 second' where id = $1`,
      [id, in_s],
    );
  },
});

/** What a merchant does with a payment that there is. */
const actsOf = (merchant: Merchant): Pick<Harness, 'cancel' | 'capture' | 'refund'> => ({
  cancel: async ({ id }) => {
    const { status, body } = await merchant.call('POST', `/payments/${id}/cancel`);
    if (status !== 200) throw new Error(`the payment was not cancelled: ${JSON.stringify(body)}`);
  },
  capture: async ({ id }, amount) => {
    const { status, body } = await merchant.call('POST', `/payments/${id}/capture`, { amount });
    if (status !== 200) throw new Error(`the payment was not captured: ${JSON.stringify(body)}`);
  },
  refund: async ({ id }, body) => {
    const { status, body: answer } = await merchant.call('POST', `/payments/${id}/refund`, body);
    if (status !== 201) throw new Error(`nothing was given back: ${JSON.stringify(answer)}`);
  },
});

/** Sets the merchant's profile, as the platform. */
const setterOf =
  (service: Parameters<typeof askGraph>[0], merchant: Merchant): Harness['setProfile'] =>
  async (profile) => {
    await askGraph(
      service,
      `mutation ($m: ID!, $p: MerchantProfileInput!) {
        merchantProfileSet(merchantId: $m, profile: $p) { ... on Merchant { id } }
      }`,
      { m: merchant.id, p: profile },
    );
  };

/**
 * A merchant of the service and its database. With settings the service is this file's own.
 */
export const openHarness = async (
  settings?: Readonly<Record<string, string>>,
): Promise<Harness> => {
  const service = await (settings ? startOwn(settings) : openPlainService());
  const merchant = await makeMerchant(service);
  const time = new pg.Client({ connectionString: service.databaseUrl });
  await time.connect();
  const read = async (id: string) => (await merchant.call('GET', `/payments/${id}`)).body;
  return {
    create: async (body = {}) => {
      const made = await merchant.call('POST', '/payments', {
        amount: 125_000,
        order_id: 'A-10422',
        description: 'Кофе в зёрнах, 1 кг',
        ...body,
      });
      if (made.status !== 201)
        throw new Error(`the payment was not created: ${JSON.stringify(made.body)}`);
      const { id } = made.body.payment;
      return { id, url: made.body.payment_url, read: () => read(id) };
    },
    subscribe: async (body = {}) => {
      const made = await merchant.call('POST', '/subscriptions', {
        amount: 99_000,
        customer_ref: randomUUID(),
        plan_name: 'Кофе каждый месяц',
        ...body,
      });
      if (made.status !== 201)
        throw new Error(`the subscription was not started: ${JSON.stringify(made.body)}`);
      const { id } = made.body.initial_payment;
      return { id, url: made.body.pay_url, read: () => read(id) };
    },
    setProfile: setterOf(service, merchant),
    link: async (body = {}) => {
      const made = await merchant.call('POST', '/links', { amount: 125_000, ...body });
      if (made.status !== 201)
        throw new Error(`the link was not made: ${JSON.stringify(made.body)}`);
      return made.body.link;
    },
    ...actsOf(merchant),
    until: (payment, status) =>
      eventually(async () => {
        const read = await payment.read();
        return read.status === status ? read : undefined;
      }, `the payment is ${status}`),
    ...changesOf(time),
    printed: () => service.printed(),
    close: async () => {
      await time.end();
      await service.stop();
    },
  };
};

export interface OpenPage {
  readonly page: Page;
  readonly window: BrowserContext;
  readonly complaints: readonly string[];
}

export interface BrowserHarness extends Harness {
  /** A window of another buyer. */
  openWindow(visitor?: Visitor): Promise<BrowserContext>;
  /** Opens a payment's page in a window of its own, or in another tab of a window. */
  open(payment: Pick<Created, 'url'>, visitor?: Visitor | BrowserContext): Promise<OpenPage>;
}

/** Waits until the panel's heading says so. */
export const says = (page: Page, text: string): Promise<void> =>
  page.locator('#panel .panel-title').filter({ hasText: text }).waitFor();

/** What pays. */
export const button = (page: Page) => page.locator('#pay .primary');

/** The service and a browser. */
export const openBrowserHarness = async (
  settings?: Readonly<Record<string, string>>,
): Promise<BrowserHarness> => {
  const [harness, browser] = await Promise.all([openHarness(settings), startChromium()]);
  return {
    ...harness,
    openWindow: (visitor) => openWindow(browser, visitor),
    open: (payment, visitor = {}) => openPayment(browser, payment.url, visitor),
    close: async () => {
      await browser.close();
      await harness.close();
    },
  };
};

const openPayment = async (
  browser: Browser,
  url: string,
  visitor: Visitor | BrowserContext,
): Promise<OpenPage> => {
  const window = 'newPage' in visitor ? visitor : await openWindow(browser, visitor);
  const page = await window.newPage();
  const complaints = watchComplaints(page);
  await page.goto(url);
  return { page, window, complaints };
};
