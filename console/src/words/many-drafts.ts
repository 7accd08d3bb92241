/** The words of deciding several payout drafts at once. */
import { plural } from './ru.ts';
import { sectionWords } from './words.ts';

const payouts = (count: number): string => (count === 1 ? '1 payout' : `${count} payouts`);

const en = {
  label: 'Chosen drafts',
  choose: (to: string) => `Choose: ${to}`,
  chooseAll: 'Choose all that wait',
  chooseNone: 'Choose none',
  chosen: (count: number, sum: string) => `Chosen: ${count} for ${sum}`,
  approveChosen: 'Approve the chosen',
  rejectChosen: 'Reject the chosen',
  oneFile: 'From one file',
  title: {
    approve: (count: number) => `Approve ${payouts(count)}`,
    reject: (count: number) => `Reject ${payouts(count)}`,
  },
  consequence: {
    approve: (count: number, sum: string) =>
      `Drafts: ${count}, ${sum} together. The money goes to the recipients; it cannot be undone.`,
    reject: (count: number, sum: string) =>
      `Drafts: ${count}, ${sum} together. They will never become payouts.`,
  },
  left: (count: number) =>
    `Left out: ${count}. Your own drafts need another person, and those to cards are approved one by one, with the number.`,
  waits: 'Waits',
  refused: 'Refused',
  decided: { approve: 'Approved', reject: 'Rejected' },
  done: {
    approve: (count: number) => `Approved: ${count}.`,
    reject: (count: number) => `Rejected: ${count}.`,
  },
  partly: {
    approve: (done: number, refused: number) =>
      `Approved: ${done}, refused: ${refused}: see the lines.`,
    reject: (done: number, refused: number) =>
      `Rejected: ${done}, refused: ${refused}: see the lines.`,
  },
};

const payoutsRu = (count: number): string =>
  `${count} ${plural(count, 'выплату', 'выплаты', 'выплат')}`;

const ru: typeof en = {
  label: 'Выбранные черновики',
  choose: (to) => `Выбрать: ${to}`,
  chooseAll: 'Выбрать все ожидающие',
  chooseNone: 'Снять выбор',
  chosen: (count, sum) => `Выбрано: ${count} на ${sum}`,
  approveChosen: 'Одобрить выбранные',
  rejectChosen: 'Отклонить выбранные',
  oneFile: 'Из одного файла',
  title: {
    approve: (count) => `Одобрить ${payoutsRu(count)}`,
    reject: (count) => `Отклонить ${payoutsRu(count)}`,
  },
  consequence: {
    approve: (count, sum) =>
      `Черновиков: ${count}, всего ${sum}. Деньги уйдут получателям, отменить нельзя.`,
    reject: (count, sum) => `Черновиков: ${count}, всего ${sum}. Выплат по ним не будет.`,
  },
  left: (count) =>
    `Пропущено: ${count}. Свои черновики одобряет другой человек, а выплаты на карты одобряют по одной, с номером карты.`,
  waits: 'Ждёт',
  refused: 'Отказ',
  decided: { approve: 'Одобрена', reject: 'Отклонена' },
  done: {
    approve: (count) => `Одобрено: ${count}.`,
    reject: (count) => `Отклонено: ${count}.`,
  },
  partly: {
    approve: (done, refused) => `Одобрено: ${done}, отказано: ${refused}, причины в строках.`,
    reject: (done, refused) => `Отклонено: ${done}, отказано: ${refused}, причины в строках.`,
  },
};

export const useManyDraftsWords = sectionWords(en, ru);
