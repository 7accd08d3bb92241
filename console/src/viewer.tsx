/** The person at the console: its permissions and its session. */
import { createContext, useContext } from 'react';
import * as graph from '../../schema/generated/console.ts';
import { useAsk } from './parts/use-ask.ts';
import { words } from './words/words.ts';

type Viewer = graph.ViewerQuery['viewer'];
export type PermissionName = Viewer['permissions'][number]['name'];

export const ViewerContext = createContext<Viewer | null>(null);

let isKnown = false;

/** Whether this page has had a session: without one it is the login's. */
export const isViewerKnown = (): boolean => isKnown;

/** Loads the person. The screens below `ViewerContext` have it. */
export const useAskViewer = () => {
  const asked = useAsk(graph.Viewer, {});
  isKnown ||= asked.data !== undefined;
  return asked;
};

export const useViewer = (): Viewer => {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('there is no viewer here');
  return viewer;
};

/** Whether the person has the permission, and who has it: operators, or a role at least. */
export const usePermission = (name: PermissionName) => {
  const { permissions, merchantId } = useViewer();
  const found = permissions.find((permission) => permission.name === name);
  const { granted = false, platformOnly = false, leastRole = 'admin' } = found ?? {};
  const isOfOthers = platformOnly && merchantId !== null;
  const why = isOfOthers ? words.acts.platform : words.acts.needs(words.person.roles[leastRole]);
  return { granted, why };
};

const headers = { 'x-console': 'session' };

const place = 'console.place';

/** Redirects to the login. The next login in this browser returns to this page. */
export const goToLogin = (): void => {
  localStorage.setItem(place, `${location.pathname}${location.search}`);
  location.assign('/console/enter');
};

/** Goes to the page at which the last session ended, when a login has led to the home page. */
export const returnToPlace = (): void => {
  const kept = localStorage.getItem(place);
  localStorage.removeItem(place);
  if (kept !== null && location.pathname === '/console/') history.replaceState(null, '', kept);
};

export const logOut = async (): Promise<void> => {
  await fetch('/console/session', { method: 'DELETE', headers }).catch(() => null);
  location.assign('/console/enter');
};
