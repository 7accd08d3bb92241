/** The names of audit actions. */
import { en, ru } from '../words/audit-actions.ts';
import { sectionWords } from '../words/words.ts';

/** The words of every action. */
export const useActionNames = sectionWords(en, ru);

/** Returns an action's name; for an action newer than this page, its code. */
export const useActionName = (): ((action: string) => string) => {
  const names: Readonly<Record<string, string>> = useActionNames();
  return (action) => names[action] ?? action;
};
