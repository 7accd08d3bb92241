/** The words of the language that the person has chosen. */
import { useSettings, type Settings } from '../settings.ts';
import { en, type Words } from './en.ts';
import { ru } from './ru.ts';

/** The words of one section, which are loaded with its screens. */
export const sectionWords = <SectionWords>(
  english: SectionWords,
  russian: SectionWords,
): (() => SectionWords) => {
  const both: Readonly<Record<Settings['language'], SectionWords>> = { en: english, ru: russian };
  return () => both[useSettings().language];
};

/** The words of every screen. */
export const useWords = sectionWords<Words>(en, ru);
