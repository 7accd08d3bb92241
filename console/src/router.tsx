/** The routes of the console. Screens are loaded on first use. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { readSearch } from './address.ts';
import { Frame, NoPage } from './frame/frame.tsx';
import type { SocketState } from './graph/live.tsx';
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

/** What stands around every screen. */
const rootOf = (socket: SocketState) =>
  createRootRoute({
    validateSearch: readSearch,
    component: () => <Frame socket={socket} />,
    notFoundComponent: NoPage,
    errorComponent: () => <Broken />,
  });

/** Creates the routes of screens, each loaded on first use. */
const screensOf =
  (root: ReturnType<typeof rootOf>) =>
  <Path extends string>(path: Path, load: () => Promise<ComponentType>) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: laterScreen(load),
    });

/** The router of a page with this socket. */
export const makeRouter = (socket: SocketState) => {
  const root = rootOf(socket);
  const at = screensOf(root);
  const routeTree = root.addChildren([
    at('/', () => import('./home/home.tsx').then(({ HomePage }) => HomePage)),
    at('/payments', () => import('./payments/list.tsx').then(({ PaymentsPage }) => PaymentsPage)),
    at('/payments/$merchantId/$id', () =>
      import('./payments/page.tsx').then(({ PaymentPage }) => PaymentPage),
    ),
    at('/refunds', () => import('./refunds/list.tsx').then(({ RefundsPage }) => RefundsPage)),
    at('/receipts', () => import('./receipts/list.tsx').then(({ ReceiptsPage }) => ReceiptsPage)),
    at('/paylinks', () => import('./links/page.tsx').then(({ LinksPage }) => LinksPage)),
    at('/subscriptions', () =>
      import('./subscriptions/page.tsx').then(({ SubscriptionsPage }) => SubscriptionsPage),
    ),
    at('/customer', () => import('./customers/page.tsx').then(({ CustomerPage }) => CustomerPage)),
    at('/payouts', () => import('./payouts/list.tsx').then(({ PayoutsPage }) => PayoutsPage)),
    at('/payouts/$merchantId/$id', () =>
      import('./payouts/payout.tsx').then(({ PayoutPage }) => PayoutPage),
    ),
    at('/balance', () => import('./ledger/page.tsx').then(({ BalancePage }) => BalancePage)),
    at('/reports', () => import('./reports/page.tsx').then(({ ReportsPage }) => ReportsPage)),
    at('/reconciliation', () =>
      import('./reconciliation/page.tsx').then(({ ReconciliationPage }) => ReconciliationPage),
    ),
    at('/banks', () => import('./banks/page.tsx').then(({ BanksPage }) => BanksPage)),
    at('/webhooks', () => import('./webhooks/list.tsx').then(({ WebhooksPage }) => WebhooksPage)),
    at('/developers', () =>
      import('./developers/page.tsx').then(({ DevelopersPage }) => DevelopersPage),
    ),
    at('/alerts', () => import('./alerts/list.tsx').then(({ AlertsPage }) => AlertsPage)),
    at('/audit', () => import('./audit/list.tsx').then(({ AuditPage }) => AuditPage)),
    at('/people', () => import('./people/page.tsx').then(({ PeoplePage }) => PeoplePage)),

    at('/settings', () => import('./person/settings.tsx').then(({ SettingsPage }) => SettingsPage)),
    at('/policies', () => import('./policies/page.tsx').then(({ PoliciesPage }) => PoliciesPage)),
    at('/merchants', () =>
      import('./merchants/list.tsx').then(({ MerchantsPage }) => MerchantsPage),
    ),
    at('/merchants/$id', () =>
      import('./merchants/page.tsx').then(({ MerchantPage }) => MerchantPage),
    ),
  ]);
  return createRouter({
    routeTree,
    basepath: '/console',
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    // An error in a screen leaves the frame working.
    defaultErrorComponent: ({ reset }) => <Broken again={reset} />,
    scrollRestoration: true,
  });
};

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
