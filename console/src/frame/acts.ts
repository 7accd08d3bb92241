/** What a person can do from the search, by its name. */
import { useNavigate } from '@tanstack/react-router';
import { kept, useAddress } from '../address.ts';
import { logOut } from '../session.ts';
import { changeSettings, useSettings } from '../settings.ts';
import { usePermission, useViewer } from '../viewer.tsx';
import { useDraftWords } from '../words/drafts.ts';
import { useSharedWords } from '../words/shared.ts';
import { usePeopleWords } from '../words/people.ts';
import { useWords } from '../words/words.ts';
import { setShortcuts } from './shortcuts-state.ts';

export interface Act {
  readonly kind: 'act';
  readonly key: string;
  readonly name: string;
  readonly run: () => void;
}

/** Pages and dialogs beside the sections. */
const usePlaces = () => {
  const words = useWords();
  const navigate = useNavigate();
  const { search, merchantId } = useAddress();
  const own = useViewer().merchantId;
  const make = { ...kept(search), act: 'new' };
  const mayPropose = usePermission('payoutDraftCreate').granted && (own ?? merchantId) !== null;
  return [
    [mayPropose, useDraftWords().make, () => navigate({ to: '/payouts', search: make })],
    [
      usePermission('merchantOnboard').granted,
      words.merchants.add,
      () => navigate({ to: '/merchants', search: make }),
    ],
    [true, useSharedWords().settings, () => navigate({ to: '/settings', search: kept(search) })],
    [
      usePermission('personSessionEnd').granted,
      usePeopleWords().title,
      () => navigate({ to: '/people', search: kept(search) }),
    ],
  ] as const;
};

/** The acts that this person may do. */
export const useActs = (): readonly Act[] => {
  const { mode, person, shortcuts } = useWords();
  const { mode: here, set } = useAddress();
  const { language, density } = useSettings();
  const places = usePlaces();
  const other = here === 'test' ? 'live' : 'test';
  const rows = density === 'usual' ? 'compact' : 'usual';
  const all: readonly (readonly [isOffered: boolean, name: string, run: () => unknown])[] = [
    ...places,
    [
      true,
      `${mode.label}: ${mode[other]}`,
      () => set({ mode: other, after: undefined, before: undefined, open: undefined }),
    ],
    ...(['system', 'light', 'dark'] as const).map(
      (theme) =>
        [
          true,
          `${person.theme}: ${person.themes[theme]}`,
          () => changeSettings({ theme }),
        ] as const,
    ),
    [
      true,
      language === 'en' ? 'Язык: русский' : 'Language: English',
      () => changeSettings({ language: language === 'en' ? 'ru' : 'en' }),
    ],
    [true, `${person.rows}: ${person.density[rows]}`, () => changeSettings({ density: rows })],
    [true, shortcuts.title, () => setShortcuts(true)],
    [true, person.logOut, logOut],
  ];
  return all
    .filter(([isOffered]) => isOffered)
    .map(([, name, run]) => ({ kind: 'act', key: `act ${name}`, name, run: () => void run() }));
};
