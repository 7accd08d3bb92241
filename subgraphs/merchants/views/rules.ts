/** The limits of saved views. */
import { textMistake } from '../../kernel/rules/text-mistake.ts';

/** Views of one person, over all sections. */
export const viewsPerPerson_max = 50;
const section_max_chars = 40;
const name_max_chars = 80;
const search_max_chars = 2_000;

export interface NamedView {
  /** The console's section: `payments`. */
  readonly section: string;
  readonly name: string;
  /** The search part of an address, without the `?`. */
  readonly search: string;
}

/** What is wrong with a view; null when nothing is. */
export const viewMistake = ({ section, name, search }: NamedView): string | null => {
  if (!/^[a-z][a-z-]*$/.test(section) || section.length > section_max_chars)
    return `section: expected up to ${section_max_chars} letters a to z`;
  if (name.trim() === '') return 'name: must not be empty';
  return (
    textMistake('name', name, 1, name_max_chars) ??
    textMistake('search', search, 0, search_max_chars)
  );
};
