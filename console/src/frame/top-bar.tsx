/** The bar at the top: merchant, mode, search, connection, person. */
import { useState, useSyncExternalStore } from 'react';
import { useAddress } from '../address.ts';
import { timeOfDay } from '../format.ts';
import { useLive } from '../graph/live.tsx';
import { unansweredSince, watchUnanswered } from '../graph/unanswered.ts';
import { Icon } from '../parts/icon.tsx';
import { AddressMerchant } from '../parts/merchant-choice.tsx';
import { PopoverButton } from '../parts/popover-button.tsx';
import { useViewer } from '../viewer.tsx';
import { useWords } from '../words/words.ts';
import { LaterMenu, LaterPalette } from './later.tsx';
import { usePaletteKeys } from './palette-keys.ts';

/** Whose objects are shown. A cabinet user has only its own merchant. */
const Whose = () => {
  const { allMerchants } = useWords();
  const viewer = useViewer();
  if (viewer.merchantId === null)
    return <AddressMerchant none={allMerchants} className="merchant-choice" />;
  return <span className="merchant-name">{viewer.merchant?.name ?? viewer.merchantId}</span>;
};

/** Test or live mode of the whole page. */
const ModeSwitch = () => {
  const words = useWords();
  const { mode, set } = useAddress();
  return (
    <div className="mode-switch" role="group" aria-label={words.mode.label}>
      {(['test', 'live'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={mode === one}
          data-mode={one}
          onClick={() => set({ mode: one, after: undefined, before: undefined, open: undefined })}
        >
          {words.mode[one]}
        </button>
      ))}
    </div>
  );
};

/** Whether the screen is up to date. */
const useLiveText = (): { readonly text: string; readonly isOpen: boolean } => {
  const { live, locale } = useWords();
  const { lostAt } = useLive();
  const staleAt = useSyncExternalStore(watchUnanswered, unansweredSince);
  if (lostAt) return { text: live.since(timeOfDay(lostAt, locale)), isOpen: false };
  if (staleAt) return { text: live.stale(timeOfDay(staleAt, locale)), isOpen: false };
  return { text: live.open, isOpen: true };
};

const LiveDot = () => {
  const { text, isOpen } = useLiveText();
  return (
    <span className="live-dot" role="status" data-open={isOpen} title={text}>
      <span className="live-text">{text}</span>
    </span>
  );
};

/** The person, whose menu it opens. */
const PersonButton = () => {
  const { person } = useWords();
  const { subject } = useViewer();
  return (
    <PopoverButton
      className="icon-button"
      title={`${person.label}: ${subject}`}
      face={<Icon name="person" />}
    >
      {(close) => <LaterMenu close={close} />}
    </PopoverButton>
  );
};

/** The bar. */
export const TopBar = () => {
  const words = useWords();
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
      <PersonButton />
      {isSearching && <LaterPalette close={() => setSearching(false)} />}
    </header>
  );
};
