/** The frame of every screen: sections, mode, search, connection, person. */
import { Outlet, useRouterState, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { nothingKept, useAddress, readSearch, without, type Search } from '../address.ts';
import { timeOfDay } from '../format.ts';
import { useLiveEvents, useLostAt } from '../graph/live.ts';
import { ActDialog } from '../parts/act-form.tsx';
import { Button, Form } from '../parts/button.tsx';
import { useUnansweredSince, useAsk } from '../parts/use-ask.ts';
import { Icon } from '../parts/icon.tsx';
import { AddressMerchant } from '../parts/whose.tsx';
import { PopoverButton } from '../parts/modal.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { changeSettings, settingsNow, useSettings } from '../settings.ts';
import { useAskViewer, useViewer, ViewerContext } from '../viewer.tsx';
import { words } from '../words/words.ts';
import { loadAhead, LaterMenu, LaterPalette } from './later.tsx';
import { rememberFilters, listAt, Sections, sectionAt, pathOf, type Section } from './sections.tsx';
import { Shortcuts, usePaletteKeys } from './shortcuts.tsx';
import { viewName_max_chars } from '../../../schema/limits.ts';
import { toldBy, send } from '../parts/outcome.tsx';
import * as graph from '../../../schema/generated/console.ts';

/* The person's saved views of a section, and saving the current one. */

/** The part of an address that a view saves: no page and no open object. */
const keptOf = (search: Search): Search => without(search, 'after', 'before', 'open', 'act');

const textOf = (search: Search): string =>
  new URLSearchParams(
    Object.entries(keptOf(search)).toSorted(([one], [other]) => one.localeCompare(other)),
  ).toString();

/** Whether there are filters to save: a tab alone is not a view. */
const isWorthKeeping = (search: Search): boolean =>
  Object.keys(readSearch(without(keptOf(search), 'mode', 'merchant', 'tab'))).length > 0;

const SaveForm = ({ save }: { readonly save: (name: string) => Promise<string> }) => {
  const [isOpen, setOpen] = useState(false);
  const [mistake, setMistake] = useState('');
  const keep = async (name: unknown): Promise<void> => {
    const refused = await save(typeof name === 'string' ? name.trim() : '');
    setMistake(refused);
    setOpen(refused !== '');
  };
  if (!isOpen)
    return (
      <button type="button" className="chip plain" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        {words.views.save}
      </button>
    );
  return (
    <Form className="chips" send={(typed) => void keep(typed.get('name'))}>
      <input
        name="name"
        className="chip-field"
        aria-label={words.views.name}
        placeholder={words.views.name}
        maxLength={viewName_max_chars}
        required
        autoFocus
        onKeyDown={({ key }) => {
          if (key === 'Escape') setOpen(false);
        }}
      />
      <Button>{words.views.keep}</Button>
      <span className="bad" role="status">
        {mistake}
      </span>
    </Form>
  );
};

const SavedViewRow = ({ section }: { readonly section: Section }) => {
  const { search } = useAddress();
  const { data, again } = useAsk(graph.SavedViews, { section });
  const views = data?.savedViews ?? [];
  const here = textOf(search);
  const isKept = views.some((view) => view.search === here);
  const save = async (name: string): Promise<string> => {
    const outcome = await send(graph.SaveView, { section, name, search: here }, '');
    again();
    return toldBy(outcome);
  };
  const maySave = data !== undefined && !isKept && isWorthKeeping(search);
  if (views.length === 0 && !maySave) return null;
  return (
    <nav className="chips views" aria-label={words.views.label}>
      {views.map((view) => (
        <span key={view.id} className="view">
          <Link
            className="chip"
            to={pathOf(section)}
            search={{
              ...nothingKept,
              ...readSearch(Object.fromEntries(new URLSearchParams(view.search))),
            }}
            aria-current={view.search === here ? 'true' : undefined}
          >
            {view.name}
          </Link>
          <button
            type="button"
            className="icon-button"
            aria-label={words.views.remove(view.name)}
            onClick={() => void send(graph.DeleteView, { id: view.id }, '').then(again)}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {maySave && <SaveForm key={section} save={save} />}
    </nav>
  );
};

const useTitle = (isTest: boolean): void => {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const section = sectionAt(path);
  const title = `${isTest ? words.testTitle : ''}${section ? words.sections[section] : words.title}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
};

/** Whose objects are shown. A cabinet user has only its own merchant. */
const Whose = () => {
  const viewer = useViewer();
  if (viewer.merchantId === null)
    return <AddressMerchant none={words.allMerchants} className="merchant-choice" />;
  return <span className="merchant-name">{viewer.merchant?.name ?? viewer.merchantId}</span>;
};

const ModeSwitch = () => {
  const { mode, set } = useAddress();
  return (
    <div className="mode-switch" role="group" aria-label={words.mode.label}>
      {(['test', 'live'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={mode === one}
          data-mode={one}
          onClick={() => set({ mode: one, open: undefined })}
        >
          {words.mode[one]}
        </button>
      ))}
    </div>
  );
};

const LiveDot = () => {
  const lostAt = useLostAt();
  const staleAt = useUnansweredSince();
  const stale = staleAt && words.live.stale(timeOfDay(staleAt));
  const fault = lostAt ? words.live.since(timeOfDay(lostAt)) : stale;
  const text = fault ?? words.live.open;
  return (
    <span className="live-dot" role="status" data-open={fault === null} title={text}>
      <span className="live-text">{text}</span>
    </span>
  );
};

const TopBar = () => {
  const { subject } = useViewer();
  const [isSearching, setSearching] = useState(false);
  usePaletteKeys(() => setSearching(true));
  return (
    <header className="top-bar">
      <Whose />
      <ModeSwitch />
      <button type="button" className="search-button" onClick={() => setSearching(true)}>
        <Icon name="search" />
        <span>{words.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <LiveDot />
      <PopoverButton
        className="icon-button"
        title={`${words.person.label}: ${subject}`}
        face={<Icon name="person" />}
      >
        {(close) => <LaterMenu close={close} />}
      </PopoverButton>
      {isSearching && <LaterPalette close={() => setSearching(false)} />}
    </header>
  );
};

const Inside = () => {
  const { narrow } = useSettings();
  const { search, mode, merchantId } = useAddress();
  const viewer = useViewer();
  const isTest = mode === 'test';
  useTitle(isTest);
  useLiveEvents(merchantId ?? viewer.merchantId);
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
    <>
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
      <ActDialog />
    </>
  );
};

/** The frame as the page's file has it, until the person is known. */
const EmptyFrame = () => (
  <div className="frame">
    <div className="top-bar" />
    <div className="sections" />
  </div>
);

export const Frame = () => {
  const { data, error } = useAskViewer();
  if (error && !data) return <Failure error={error} />;
  return data ? (
    <ViewerContext value={data.viewer}>
      <Inside />
    </ViewerContext>
  ) : (
    <EmptyFrame />
  );
};

export const NoPage = () => {
  useSettings();
  return <Empty title={words.failure.noPage} />;
};
