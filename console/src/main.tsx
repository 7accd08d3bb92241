/** The entry point: starts the program. Without a session its first answer leads to the login. */
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { RouterProvider } from '@tanstack/react-router';
import { openGraph, openSocket, type Ends } from './graph/client.ts';
import { setConnection } from './graph/live.ts';
import { router } from './router.tsx';
import { applySettings } from './settings.ts';
import { goToLogin, isViewerKnown, returnToPlace } from './viewer.tsx';
import { PageEnds, showEnd } from './frame/later.tsx';

const start = (root: HTMLElement): void => {
  applySettings();
  returnToPlace();
  const ends: Ends = {
    loggedOut: () => (isViewerKnown() ? showEnd('loggedOut') : goToLogin()),
    outdated: () => showEnd('outdated'),
  };
  const graph = openGraph(ends, openSocket(ends, setConnection));
  createRoot(root).render(
    <Provider value={graph}>
      <RouterProvider router={router} />
      <PageEnds />
    </Provider>,
  );
};

const root = document.getElementById('root');
if (root) start(root);
