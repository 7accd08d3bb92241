/** The words of what needs a person. */
import { sectionWords } from './words.ts';

const en = {
  webhooks: (count: string) => `Failed webhooks: ${count}`,
  draft: 'A payout to approve',
  refund: 'A refund to approve',
  difference: (kind: string) => `A registry differs: ${kind}`,
  yours: 'yours',
  take: 'Take it',
  replay: 'Replay ...',
  quiet: 'Nothing needs attention.',
  more: 'These are the newest: more waits in the sections.',
  held: (count: string) => `Held, not captured yet: ${count}`,
};

const ru: typeof en = {
  webhooks: (count) => `Недоставленные вебхуки: ${count}`,
  draft: 'Выплата на одобрение',
  refund: 'Возврат на одобрение',
  difference: (kind) => `Расхождение с реестром: ${kind}`,
  yours: 'ваше',
  take: 'Взять',
  replay: 'Отправить снова ...',
  quiet: 'Сейчас ничего не требует внимания.',
  more: 'Это самые новые: остальное ждёт в разделах.',
  held: (count) => `Удержано, не списано: ${count}`,
};

/** The words. */
export const useNeededWords = sectionWords(en, ru);
