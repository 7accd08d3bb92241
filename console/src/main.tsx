/** The entry point: starts the program. Without a session its first answer leads to the login. */
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { RouterProvider } from '@tanstack/react-router';
import { openGraph, openSocket, type Ends } from './graph/client.ts';
import { openSocketState } from './graph/socket-state.ts';
import { makeRouter } from './router.tsx';
import { applySettings } from './settings.ts';
import { goToLogin } from './session.ts';
import { PageEnds, showEnd } from './frame/page-ends.tsx';
import { isViewerKnown } from './viewer.tsx';

const start = (root: HTMLElement): void => {
  applySettings();
  const ends: Ends = {
    loggedOut: () => (isViewerKnown() ? showEnd('loggedOut') : goToLogin()),
    outdated: () => showEnd('outdated'),
  };
  const socketState = openSocketState();
  const graph = openGraph(ends, openSocket(ends, socketState.set));
  createRoot(root).render(
    <Provider value={graph}>
      <RouterProvider router={makeRouter(socketState)} />
      <PageEnds />
    </Provider>,
  );
};

const root = document.getElementById('root');
if (root) start(root);
