/** The words of alerts beyond their kinds, and of the audit log's filters. */
import { sectionWords } from './words.ts';

const en = {
  actors: { key: 'API key', service: 'the service', edge: 'the service', buyer: 'buyer' },
  severity: 'Severity',
  severities: { critical: 'Critical', warning: 'Warning' },
  assignee: 'Assignee',
  nobody: 'nobody',
  mine: 'Mine',
  unassigned: 'Unassigned',
  toPayment: (name: string) => `Payment ${name}`,
  ofMode: 'This mode only',
  notAssigned: 'Not assigned',
  subject: 'Id of what was changed',
  actor: 'Who',
  action: 'Action',
};

const ru: typeof en = {
  actors: { key: 'ключ API', service: 'сервис', edge: 'сервис', buyer: 'покупатель' },
  severity: 'Срочность',
  severities: { critical: 'Сейчас', warning: 'Сегодня' },
  assignee: 'Занимается',
  nobody: 'никто',
  mine: 'Мои',
  unassigned: 'Ничьи',
  toPayment: (name) => `Платёж ${name}`,
  ofMode: 'Только этого режима',
  notAssigned: 'Не назначено',
  subject: 'Id изменённого',
  actor: 'Кто',
  action: 'Действие',
};

/** The words. */
export const useAlertWords = sectionWords(en, ru);
