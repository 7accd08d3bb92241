/** The words of who is logged in. */
import { sectionWords } from './words.ts';

const en = {
  title: 'People',
  now: 'Logged in now',
  text: 'An ended session stops working within a second.',
  issuer: (name: string) =>
    `People come from ${name}: it says their names, roles and merchants. Add and remove them there.`,
  invite: 'Invite a person',
  inviteText:
    'You get a link to pass on. It lets the person in once, within 3 days; a newer invitation replaces it.',
  invited: 'This link is shown once. Copy it now and send it to the person.',
  email: 'E-mail address',
  emailHint: 'The person’s name in the audit log',
  role: 'Role',
  staff: 'All merchants: staff of the platform',
  waiting: 'Invited, not yet here',
  until: 'The link works until',
  by: 'Invited by',
  withdraw: 'Withdraw',
  withdrawText: (who: string) => `The link of ${who} stops working at once.`,
  withdrawn: 'The invitation is withdrawn.',
  seen: 'Last seen',
  since: 'Since',
  ends: 'Ends',
  end: 'End session',
  ended: 'The session is ended.',
  endText: (who: string) => `${who} has to log in again. It is written in the audit log.`,
  none: 'No one is logged in.',
};

const ru: typeof en = {
  title: 'Люди',
  now: 'Сейчас в консоли',
  text: 'Завершённый сеанс перестаёт действовать везде за секунду.',
  issuer: (name) =>
    `Людей ведёт ${name}: имена, роли и мерчанты приходят оттуда. Там же добавляют и убирают.`,
  invite: 'Пригласить человека',
  inviteText:
    'Вы получите ссылку, которую нужно передать. Она впускает один раз в течение трёх дней; новое приглашение заменяет её.',
  invited: 'Ссылка показывается один раз. Скопируйте её и отправьте человеку.',
  email: 'Электронная почта',
  emailHint: 'Под этим именем человек будет в журнале',
  role: 'Роль',
  staff: 'Все мерчанты: сотрудник платформы',
  waiting: 'Приглашены, ещё не вошли',
  until: 'Ссылка действует до',
  by: 'Кто пригласил',
  withdraw: 'Отозвать',
  withdrawText: (who) => `Ссылка для ${who} сразу перестанет действовать.`,
  withdrawn: 'Приглашение отозвано.',
  seen: 'Последний запрос',
  since: 'С',
  ends: 'Кончится',
  end: 'Завершить сеанс',
  ended: 'Сеанс завершён.',
  endText: (who) => `${who}: придётся войти заново. Запись об этом останется в журнале.`,
  none: 'Никто не вошёл.',
};

export const usePeopleWords = sectionWords(en, ru);
