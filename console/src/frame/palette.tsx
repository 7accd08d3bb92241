/** Ctrl-K: opens a section, or any object that a text names. */
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { Search } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { Modal } from '../parts/modal.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useRested } from '../parts/use-rested.ts';
import { useWords } from '../words/words.ts';
import { zoneName } from '../zone.ts';
import { useActs } from './acts.ts';
import { FoundText, objectsIn, placeOf, sectionOf, type Found } from './found.tsx';
import { rememberedFilters } from './remembered.ts';
import { pathOf, useSections } from './sections.tsx';

/** Normalizes letters: ё becomes е, as most people type it. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase().replaceAll('ё', 'е');

const useFound = (text: string) => {
  const words = useWords();
  const { merchantId } = useAddress();
  const rested = useRested(text.trim());
  const asked = { text: rested, merchantId, timeZone: zoneName() };
  const { data, fetching } = useAsk(Search, asked, rested.length < 3);
  const isNamed = (name: string): boolean => folded(name).includes(folded(text.trim()));
  const sections = useSections()
    .filter((section) => isNamed(words.sections[section]))
    .map((section) => ({ kind: 'section', key: section, section }) as const);
  const acts = useActs().filter(({ name }) => isNamed(name));
  const objects = rested.length < 3 ? [] : objectsIn(data?.search ?? []);
  return { found: [...objects, ...sections, ...acts] as readonly Found[], fetching };
};

/** The target of a choice. */
const useGo = (close: () => void): ((one: Found | undefined) => void) => {
  const navigate = useNavigate();
  const { search } = useAddress();
  return (one) => {
    if (!one) return;
    close();
    if (one.kind === 'act') return one.run();
    return void navigate(
      one.kind === 'section'
        ? {
            to: pathOf[one.section],
            search: { ...rememberedFilters(one.section), ...kept(search) },
          }
        : { to: pathOf[sectionOf(one)], search: { ...kept(search), ...placeOf(one) } },
    );
  };
};

/** The dialog. */
export const Palette = ({ close }: { readonly close: () => void }) => {
  const words = useWords();
  const go = useGo(close);
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const { found, fetching } = useFound(text);
  const here = Math.min(place, Math.max(0, found.length - 1));
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setPlace(Math.min(here + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setPlace(Math.max(here - 1, 0));
    else if (event.key === 'Enter') go(found[here]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title={words.search} isOpen isDismissable onClose={close}>
      <input
        className="palette-field"
        role="combobox"
        aria-expanded
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${here}` : undefined}
        aria-label={words.searchHint}
        placeholder={words.searchHint}
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      <ul className="palette-list" id="found" role="listbox" aria-label={words.goTo}>
        {found.map((one, index) => (
          <li
            key={one.key}
            id={`found-${index}`}
            role="option"
            aria-selected={index === here}
            onClick={() => go(one)}
          >
            <FoundText one={one} />
          </li>
        ))}
      </ul>
      <p className="quiet" role="status">
        {found.length === 0 && !fetching && `${words.searchEmpty} ${words.searchWays}`}
      </p>
    </Modal>
  );
};
