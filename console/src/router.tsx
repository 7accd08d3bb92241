/** The addresses of the console. Screens are loaded when they are first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { readSearch } from './address.ts';
import { Broken, Frame, NoPage } from './frame/frame.tsx';
import type { SocketState } from './graph/socket-state.ts';

/** Searches are plain texts, so that an address can be read. */
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
    errorComponent: Broken,
  });

/** Makes the routes of screens, each loaded when it is first opened. */
const screensOf =
  (root: ReturnType<typeof rootOf>) =>
  <Path extends string>(path: Path, load: () => Promise<{ Page: () => React.ReactNode }>) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, 'Page'),
    });

/** The router of a page with this socket. */
export const makeRouter = (socket: SocketState) => {
  const root = rootOf(socket);
  const at = screensOf(root);
  const routeTree = root.addChildren([
    at('/', () => import('./home/home.tsx').then(({ HomePage: Page }) => ({ Page }))),
    at('/payments', () =>
      import('./payments/list.tsx').then(({ PaymentsPage: Page }) => ({ Page })),
    ),
    at('/payments/$merchantId/$id', () =>
      import('./payments/page.tsx').then(({ PaymentPage: Page }) => ({ Page })),
    ),
    at('/refunds', () => import('./refunds/list.tsx').then(({ RefundsPage: Page }) => ({ Page }))),
    at('/receipts', () =>
      import('./receipts/list.tsx').then(({ ReceiptsPage: Page }) => ({ Page })),
    ),
    at('/paylinks', () => import('./links/page.tsx').then(({ LinksPage: Page }) => ({ Page }))),
    at('/subscriptions', () =>
      import('./subscriptions/page.tsx').then(({ SubscriptionsPage: Page }) => ({ Page })),
    ),
    at('/payouts', () => import('./payouts/list.tsx').then(({ PayoutsPage: Page }) => ({ Page }))),
    at('/payouts/$merchantId/$id', () =>
      import('./payouts/payout.tsx').then(({ PayoutPage: Page }) => ({ Page })),
    ),
    at('/balance', () => import('./ledger/page.tsx').then(({ BalancePage: Page }) => ({ Page }))),
    at('/reports', () => import('./reports/page.tsx').then(({ ReportsPage: Page }) => ({ Page }))),
    at('/reconciliation', () =>
      import('./reconciliation/page.tsx').then(({ ReconciliationPage: Page }) => ({ Page })),
    ),
    at('/banks', () => import('./banks/page.tsx').then(({ BanksPage: Page }) => ({ Page }))),
    at('/webhooks', () =>
      import('./webhooks/list.tsx').then(({ WebhooksPage: Page }) => ({ Page })),
    ),
    at('/developers', () =>
      import('./developers/page.tsx').then(({ DevelopersPage: Page }) => ({ Page })),
    ),
    at('/alerts', () => import('./alerts/list.tsx').then(({ AlertsPage: Page }) => ({ Page }))),
    at('/audit', () => import('./audit/list.tsx').then(({ AuditPage: Page }) => ({ Page }))),
    at('/people', () => import('./people/page.tsx').then(({ PeoplePage: Page }) => ({ Page }))),

    at('/settings', () =>
      import('./person/settings.tsx').then(({ SettingsPage: Page }) => ({ Page })),
    ),
    at('/policies', () =>
      import('./policies/page.tsx').then(({ PoliciesPage: Page }) => ({ Page })),
    ),
    at('/merchants', () =>
      import('./merchants/list.tsx').then(({ MerchantsPage: Page }) => ({ Page })),
    ),
    at('/merchants/$id', () =>
      import('./merchants/page.tsx').then(({ MerchantPage: Page }) => ({ Page })),
    ),
  ]);
  return createRouter({
    routeTree,
    basepath: '/console',
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
};

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
