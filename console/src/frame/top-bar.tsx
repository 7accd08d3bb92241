/** The bar at the top: merchant, mode, search, connection, person. */
import { useState, useSyncExternalStore } from 'react';
import { Merchants } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { timeOfDay } from '../format.ts';
import { useLive } from '../graph/live.tsx';
import { unansweredSince, watchUnanswered } from '../graph/unanswered.ts';
import { Icon } from '../parts/icon.tsx';
import { PopoverButton } from '../parts/popover-button.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useViewer } from '../viewer.tsx';
import { useWords } from '../words/words.ts';
import { LaterMenu, LaterPalette } from './later.tsx';
import { usePaletteKeys } from './palette-keys.ts';

/** The choice of merchant. A cabinet user has only its own. */
const MerchantChoice = () => {
  const words = useWords();
  const viewer = useViewer();
  const { merchantId, set } = useAddress();
  const { data } = useAsk(Merchants, { first: 100 }, viewer.merchantId !== null);
  if (viewer.merchantId !== null)
    return <span className="merchant-name">{viewer.merchant?.name ?? viewer.merchantId}</span>;
  const nodes = data?.merchants.nodes ?? [];
  const isListed = merchantId === null || nodes.some(({ id }) => id === merchantId);
  return (
    <select
      className="merchant-choice"
      aria-label={words.merchant}
      value={merchantId ?? ''}
      onChange={(event) =>
        set({
          merchant: event.target.value || undefined,
          after: undefined,
          before: undefined,
          open: undefined,
        })
      }
    >
      <option value="">{words.allMerchants}</option>
      {!isListed && <option value={merchantId}>{merchantId}</option>}
      {nodes.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
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
      <MerchantChoice />
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
