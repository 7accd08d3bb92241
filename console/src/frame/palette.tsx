/** Ctrl-K: opens a section, or any object that a text names. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Search } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { FindList, useRested } from '../parts/find-list.tsx';
import { Modal } from '../parts/modal.tsx';
import { useAsk } from '../parts/use-ask.ts';
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
const useGo = (close: () => void): ((one: Found) => void) => {
  const navigate = useNavigate();
  const { search } = useAddress();
  return (one) => {
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
  const { found, fetching } = useFound(text);
  return (
    <Modal title={words.search} isOpen isDismissable onClose={close}>
      <FindList
        label={words.searchHint}
        listLabel={words.goTo}
        text={text}
        setText={setText}
        found={found}
        choose={go}
        show={(one) => <FoundText one={one} />}
        status={found.length === 0 && !fetching ? `${words.searchEmpty} ${words.searchWays}` : ''}
      />
    </Modal>
  );
};
