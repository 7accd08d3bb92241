/** The frame of every screen: sections, mode, search, connection, person. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { LiveProvider } from '../graph/live.tsx';
import type { SocketState } from '../graph/socket-state.ts';
import { Empty, Failure } from '../parts/states.tsx';
import { changeSettings, settingsNow, useSettings } from '../settings.ts';
import { ViewerProvider, useViewer } from '../viewer.tsx';
import { useWords } from '../words/words.ts';
import { loadAhead } from './later.tsx';
import { rememberFilters } from './remembered.ts';
import { SavedViewRow } from './saved-views.tsx';
import { listAt, Sections, sectionAt } from './sections.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TopBar } from './top-bar.tsx';

/** The tab's title shows the section and the test mode. */
const useTitle = (isTest: boolean): void => {
  const words = useWords();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const section = sectionAt(path);
  const title = `${isTest ? words.testTitle : ''}${section ? words.sections[section] : words.title}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
};

const Inside = ({ socket }: { readonly socket: SocketState }) => {
  const words = useWords();
  const { narrow } = useSettings();
  const { search, mode, merchantId } = useAddress();
  const viewer = useViewer();
  const isTest = mode === 'test';
  useTitle(isTest);
  const list = useRouterState({ select: ({ location }) => listAt(location.pathname) });
  useEffect(() => {
    if (list) rememberFilters(list, search);
  }, [list, search]);
  useEffect(() => void loadAhead(), []);
  useEffect(() => {
    document.documentElement.dataset['mode'] = mode;
    if (settingsNow().mode !== mode) changeSettings({ mode });
  }, [mode]);
  return (
    <LiveProvider socket={socket} merchantId={merchantId ?? viewer.merchantId}>
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <div className="frame" data-narrow={narrow}>
        <TopBar />
        {isTest && (
          <aside className="test-bar" aria-label={words.mode.label}>
            {words.testBar}
          </aside>
        )}
        <Sections />
        <main id="content" tabIndex={-1}>
          {list && <SavedViewRow section={list} />}
          <Outlet />
        </main>
      </div>
      <Shortcuts />
    </LiveProvider>
  );
};

/** The frame as the page's file has it, until the person is known. */
const EmptyFrame = () => (
  <div className="frame">
    <div className="top-bar" />
    <div className="sections" />
  </div>
);

/** The frame of every screen. */
export const Frame = ({ socket }: { readonly socket: SocketState }): ReactNode => (
  <ViewerProvider
    waiting={<EmptyFrame />}
    failed={(error, again) => <Failure error={error} again={again} />}
  >
    <Inside socket={socket} />
  </ViewerProvider>
);

/** An address without a screen. */
export const NoPage = () => <Empty title={useWords().failure.noPage} />;
