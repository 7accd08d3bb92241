/** What was done, in words. */
import { en, ru } from '../words/audit-actions.ts';
import { sectionWords } from '../words/words.ts';

/** The words of every action. */
export const useActionNames = sectionWords(en, ru);

/** Gives an action's words; of one that this page is too old to know, its code. */
export const useActionName = (): ((action: string) => string) => {
  const names: Readonly<Record<string, string>> = useActionNames();
  return (action) => names[action] ?? action;
};
