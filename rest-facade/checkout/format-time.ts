/** Moments as a buyer reads them: in Moscow's time, so that a print means the same everywhere. */
import type { Words } from './words/words.ts';

const timeZone = 'Europe/Moscow';

/** Day and minute of `instant` (RFC 3339) in Moscow, with the name of that time. */
export const formatTime = (instant: string, { locale, moscowTime }: Words): string => {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  });
  return `${format.format(new Date(instant))} ${moscowTime}`;
};

/** Day of `instant` (RFC 3339) in Moscow. */
export const formatDay = (instant: string, { locale }: Words): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }).format(new Date(instant));
