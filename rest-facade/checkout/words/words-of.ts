/** Finds the texts of a language. */
import { en } from './en.ts';
import { ru } from './ru.ts';
import type { Language, Words } from './words.ts';

export const wordsOf = (language: Language): Words => {
  switch (language) {
    case 'ru':
      return ru;
    case 'en':
      return en;
  }
};
