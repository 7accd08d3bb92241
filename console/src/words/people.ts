/** The words of who is logged in. */
import { sectionWords } from './words.ts';

const en = {
  title: 'Sessions',
  text: 'People who are logged in now. An ended session stops working within a second.',
  seen: 'Last seen',
  since: 'Since',
  ends: 'Ends',
  end: 'End session',
  ended: 'The session is ended.',
  endText: (who: string) => `${who} has to log in again. It is written in the audit log.`,
  none: 'No one is logged in.',
};

const ru: typeof en = {
  title: 'Кто вошёл',
  text: 'Кто сейчас в консоли. Завершённый сеанс перестаёт действовать везде за секунду.',
  seen: 'Последний запрос',
  since: 'С',
  ends: 'Кончится',
  end: 'Завершить сеанс',
  ended: 'Сеанс завершён.',
  endText: (who) => `${who}: придётся войти заново. Запись об этом останется в журнале.`,
  none: 'Никто не вошёл.',
};

/** The words. */
export const usePeopleWords = sectionWords(en, ru);
