/** The routes of the console. Screens are loaded on first use. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { readSearch } from './address.ts';
import { Frame, NoPage } from './frame/frame.tsx';
import { laterScreen } from './parts/later.tsx';
import { Broken } from './parts/states.tsx';

/** Search parameters are plain texts, so that an address is readable. */
const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));
const stringifySearch = (search: Record<string, unknown>): string => {
  const text = new URLSearchParams(readSearch(search))
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/');
  return text === '' ? '' : `?${text}`;
};

const root = createRootRoute({
  validateSearch: readSearch,
  // Each link keeps mode and merchant, unless it names others or none.
  search: {
    middlewares: [
      ({ search, next }) =>
        readSearch({ mode: search.mode, merchant: search.merchant, ...next(search) }),
    ],
  },
  component: Frame,
  notFoundComponent: NoPage,
  errorComponent: () => <Broken />,
});

const at = <Path extends string>(path: Path, load: () => Promise<ComponentType>) =>
  createRoute({ getParentRoute: () => root, path, component: laterScreen(load) });

export const router = createRouter({
  routeTree: root.addChildren([
    at('/', async () => (await import('./home/home.tsx')).HomePage),
    at('/payments', async () => (await import('./payments/list.tsx')).PaymentsPage),
    at(
      '/payments/$merchantId/$id',
      async () => (await import('./payments/payment.tsx')).PaymentPage,
    ),
    at('/refunds', async () => (await import('./refunds/list.tsx')).RefundsPage),
    at('/receipts', async () => (await import('./receipts/list.tsx')).ReceiptsPage),
    at('/paylinks', async () => (await import('./links/page.tsx')).LinksPage),
    at('/subscriptions', async () => (await import('./subscriptions/page.tsx')).SubscriptionsPage),
    at('/customer', async () => (await import('./customers/page.tsx')).CustomerPage),
    at('/payouts', async () => (await import('./payouts/list.tsx')).PayoutsPage),
    at('/payouts/$merchantId/$id', async () => (await import('./payouts/payout.tsx')).PayoutPage),
    at('/balance', async () => (await import('./ledger/page.tsx')).BalancePage),
    at('/reports', async () => (await import('./reports/page.tsx')).ReportsPage),
    at(
      '/reconciliation',
      async () => (await import('./reconciliation/page.tsx')).ReconciliationPage,
    ),
    at('/banks', async () => (await import('./banks/page.tsx')).BanksPage),
    at('/webhooks', async () => (await import('./webhooks/list.tsx')).WebhooksPage),
    at('/developers', async () => (await import('./developers/page.tsx')).DevelopersPage),
    at('/alerts', async () => (await import('./alerts/list.tsx')).AlertsPage),
    at('/audit', async () => (await import('./audit/list.tsx')).AuditPage),
    at('/people', async () => (await import('./people/page.tsx')).PeoplePage),
    at('/settings', async () => (await import('./person/settings.tsx')).SettingsPage),
    at('/policies', async () => (await import('./policies/page.tsx')).PoliciesPage),
    at('/merchants', async () => (await import('./merchants/list.tsx')).MerchantsPage),
    at('/merchants/$id', async () => (await import('./merchants/page.tsx')).MerchantPage),
  ]),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // An error in a screen leaves the frame working.
  defaultErrorComponent: ({ reset }) => <Broken again={reset} />,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
