/** The entry point: checks the login, then starts the program. */
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { RouterProvider } from '@tanstack/react-router';
import { openGraph, openSocket, type Ends } from './graph/client.ts';
import { openSocketState } from './graph/socket-state.ts';
import { makeRouter } from './router.tsx';
import { applySettings } from './settings.ts';
import { goToLogin } from './session.ts';
import { PageEnds, showEnd } from './frame/page-ends.tsx';

const start = async (root: HTMLElement): Promise<void> => {
  applySettings();
  const answer = await fetch('/console/session').catch(() => null);
  if (answer?.status === 401) return goToLogin();
  const ends: Ends = {
    loggedOut: () => showEnd('loggedOut'),
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
if (root) void start(root);
