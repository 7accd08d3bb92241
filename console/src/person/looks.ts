/** What a person chooses of the console's looks, each as a field of choice takes it. */
import { changeSettings, useSettings, type Settings } from '../settings.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

const languages = [
  ['en', 'English'],
  ['ru', 'Русский'],
] as const;

export const useLooks = () => {
  const settings = useSettings();
  const { person } = words;
  const choice = <Name extends 'theme' | 'language' | 'density'>(
    name: Name,
    label: string,
    options: readonly (readonly [Settings[Name], string])[],
  ) => ({
    label,
    options,
    value: settings[name],
    set: (value: Settings[Name]): void => changeSettings({ [name]: value }),
  });
  return {
    theme: choice('theme', person.theme, optionsOf(person.themes)),
    language: choice('language', person.language, languages),
    density: choice('density', person.rows, optionsOf(person.density)),
  };
};
