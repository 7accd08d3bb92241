/** The words of who is logged in. */
import { sectionWords } from './table.ts';

export const peopleWords = sectionWords({
  title: ['People', 'Люди'],
  now: ['Logged in now', 'Сейчас в консоли'],
  text: [
    'An ended session stops working within a second.',
    'Завершённый сеанс перестаёт действовать везде за секунду.',
  ],
  issuer: (name: string) => [
    `People come from ${name}: it says their names, roles and merchants. Add and remove them there.`,
    `Людей ведёт ${name}: имена, роли и мерчанты приходят оттуда. Там же добавляют и убирают.`,
  ],
  invite: ['Invite a person', 'Пригласить человека'],
  inviteText: [
    'You get a link to pass on. It lets the person in once, within 3 days; a newer invitation replaces it.',
    'Вы получите ссылку, которую нужно передать. Она впускает один раз в течение трёх дней; новое приглашение заменяет её.',
  ],
  invited: [
    'This link is shown once. Copy it now and send it to the person.',
    'Ссылка показывается один раз. Скопируйте её и отправьте человеку.',
  ],
  email: ['E-mail address', 'Электронная почта'],
  emailHint: ['The person’s name in the audit log', 'Под этим именем человек будет в журнале'],
  role: ['Role', 'Роль'],
  staff: ['All merchants: staff of the platform', 'Все мерчанты: сотрудник платформы'],
  waiting: ['Invited, not yet here', 'Приглашены, ещё не вошли'],
  until: ['The link works until', 'Ссылка действует до'],
  by: ['Invited by', 'Кто пригласил'],
  withdraw: ['Withdraw', 'Отозвать'],
  withdrawText: (who: string) => [
    `The link of ${who} stops working at once.`,
    `Ссылка для ${who} сразу перестанет действовать.`,
  ],
  withdrawn: ['The invitation is withdrawn.', 'Приглашение отозвано.'],
  seen: ['Last seen', 'Последний запрос'],
  since: ['Since', 'С'],
  ends: ['Ends', 'Кончится'],
  end: ['End session', 'Завершить сеанс'],
  ended: ['The session is ended.', 'Сеанс завершён.'],
  endText: (who: string) => [
    `${who} has to log in again. It is written in the audit log.`,
    `${who}: придётся войти заново. Запись об этом останется в журнале.`,
  ],
  none: ['No one is logged in.', 'Никто не вошёл.'],
});
