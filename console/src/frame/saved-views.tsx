/** The person's saved views of a section, and saving the current one. */
import { viewName_max_chars } from '../../../schema/limits.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { useRefusalText } from '../parts/outcome.tsx';
import { DeleteView, SavedViews, SaveView } from '../../../schema/generated/console.ts';
import { readSearch, useAddress, without, type Search } from '../address.ts';
import { Icon } from '../parts/icon.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWords } from '../words/words.ts';
import { pathOf, type Section } from './sections.tsx';

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
  const { views: words } = useWords();
  const [isOpen, setOpen] = useState(false);
  const [mistake, setMistake] = useState('');
  const send = async (name: unknown): Promise<void> => {
    const refused = await save(typeof name === 'string' ? name.trim() : '');
    setMistake(refused);
    setOpen(refused !== '');
  };
  if (!isOpen)
    return (
      <button type="button" className="chip plain" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        {words.save}
      </button>
    );
  return (
    <form
      className="chips"
      onSubmit={(event) => {
        event.preventDefault();
        void send(new FormData(event.currentTarget).get('name'));
      }}
    >
      <input
        name="name"
        className="chip-field"
        aria-label={words.name}
        placeholder={words.name}
        maxLength={viewName_max_chars}
        required
        autoFocus
        onKeyDown={({ key }) => {
          if (key === 'Escape') setOpen(false);
        }}
      />
      <button type="submit" className="button">
        {words.keep}
      </button>
      <span className="bad" role="status">
        {mistake}
      </span>
    </form>
  );
};

/** The row of views; nothing while there are none and nothing to save. */
export const SavedViewRow = ({ section }: { readonly section: Section }) => {
  const { views: words } = useWords();
  const { search } = useAddress();
  const { data, again } = useAsk(SavedViews, { section });
  const refusalText = useRefusalText();
  const [, saveView] = useMutation(SaveView);
  const [, deleteView] = useMutation(DeleteView);
  const views = data?.savedViews ?? [];
  const here = textOf(search);
  const isKept = views.some((view) => view.search === here);
  const save = async (name: string): Promise<string> => {
    const { data: saved, error } = await saveView({ section, name, search: here });
    again();
    const result = saved?.savedViewSave;
    return result?.__typename === 'SavedView' ? '' : refusalText(result, error);
  };
  const maySave = data !== undefined && !isKept && isWorthKeeping(search);
  if (views.length === 0 && !maySave) return null;
  return (
    <nav className="chips views" aria-label={words.label}>
      {views.map((view) => (
        <span key={view.id} className="view">
          <Link
            className="chip"
            to={pathOf(section)}
            search={readSearch(Object.fromEntries(new URLSearchParams(view.search)))}
            aria-current={view.search === here ? 'true' : undefined}
          >
            {view.name}
          </Link>
          <button
            type="button"
            className="icon-button"
            aria-label={words.remove(view.name)}
            onClick={() => void deleteView({ id: view.id }).then(again)}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {maySave && <SaveForm key={section} save={save} />}
    </nav>
  );
};
