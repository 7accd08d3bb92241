/** The words of payouts from a file. */
import type { Column } from '../payouts/draft-fields.ts';
import { plural } from './ru.ts';
import { sectionWords } from './words.ts';

const en = {
  title: 'Payouts from a file',
  text: 'A CSV or XLSX file with a head line: amount, phone and bank, or account and BIK; name, INN and purpose if you have them. Each line becomes a draft, which another person approves.',
  file: 'File',
  fileHint: 'Up to 1,000 lines and 5 MB. Card numbers are not taken from files.',
  unreadable: 'This is neither a CSV nor an XLSX file.',
  tooLarge: 'The file is larger than 5 MB.',
  tooLong: (lines: string) => `The file has ${lines} lines: at most 1,000 are taken at once.`,
  noAmounts: 'The head line has no column of amounts: “amount”.',
  noLines: 'There are no lines below the head.',
  line: 'Line',
  state: 'Check',
  good: 'Ready',
  bad: 'Wrong',
  same: (line: number) => `Same as line ${line}: recipient and amount`,
  sent: 'Proposed',
  wrong: {
    amount: 'amount from 0.01, and no comma between thousands alone: 10999 or 10,999.00',
    phone: 'no Russian phone',
    bankId: 'no such bank, or several',
    cardPan: 'no card',
    accountNumber: 'account of 20 digits',
    bik: 'BIK of 9 digits',
    inn: 'INN of 10 or 12 digits',
    fullName: 'name longer than 255',
  },
  summary: (good: string, bad: string, sum: string) => `${good} ready for ${sum}, ${bad} wrong`,
  propose: (count: string) => `Propose ${count}`,
  payouts: (count: number) => (count === 1 ? '1 payout' : `${count} payouts`),
  consequence: (count: number, sum: string, wrong: number) =>
    `Drafts to be made: ${count}, ${sum} together. Nothing moves until another person approves them.${wrong > 0 ? ` Wrong lines are left out: ${wrong}.` : ''}`,
  progress: (done: number, all: number) => `${done} of ${all}`,
  done: (count: number) => `Waiting for another person: ${count}.`,
  partly: (done: number, refused: number) =>
    `Proposed: ${done}, refused: ${refused}: see the table.`,
  columns: {
    amount: 'amount',
    phone: 'phone',
    bankId: 'bank',
    fullName: 'name',
    accountNumber: 'account',
    bik: 'bik',
    inn: 'inn',
    reason: 'purpose',
  } satisfies Readonly<Record<Column, string>>,
  sample: 'A sample file',
  reason: 'What it is for, where the line does not say',
};

const ru: typeof en = {
  title: 'Выплаты из файла',
  text: 'Файл CSV или XLSX с заголовком: сумма, телефон и банк либо счёт и БИК; если есть — ФИО, ИНН и назначение. Каждая строка станет черновиком, который одобрит другой человек.',
  file: 'Файл',
  fileHint: 'До 1000 строк и 5 МБ. Номера карт из файлов не принимаются.',
  unreadable: 'Это не CSV и не XLSX.',
  tooLarge: 'Файл больше 5 МБ.',
  tooLong: (lines) => `В файле строк: ${lines}. За один раз принимается не больше 1000.`,
  noAmounts: 'В заголовке нет столбца «сумма».',
  noLines: 'Под заголовком нет строк.',
  line: 'Строка',
  state: 'Проверка',
  good: 'Готова',
  bad: 'Ошибка',
  same: (line) => `Получатель и сумма как в строке ${line}`,
  sent: 'Предложена',
  wrong: {
    amount: 'сумма от 0,01; 10999 или 10 999,00, а не 10,999',
    phone: 'не российский телефон',
    bankId: 'такого банка нет, или их несколько',
    cardPan: 'нет карты',
    accountNumber: 'счёт из 20 цифр',
    bik: 'БИК из 9 цифр',
    inn: 'ИНН из 10 или 12 цифр',
    fullName: 'имя длиннее 255 символов',
  },
  summary: (good, bad, sum) => `Готово: ${good} на ${sum}, с ошибками: ${bad}`,
  propose: (count) => `Предложить ${count}`,
  payouts: (count) => `${count} ${plural(count, 'выплату', 'выплаты', 'выплат')}`,
  consequence: (count, sum, wrong) =>
    `Черновиков будет: ${count}, всего ${sum}. Деньги не движутся, пока их не одобрит другой человек.${wrong > 0 ? ` Строки с ошибками пропускаются: ${wrong}.` : ''}`,
  progress: (done, all) => `${done} из ${all}`,
  done: (count) => `Ждут другого человека: ${count}.`,
  partly: (done, refused) => `Предложено: ${done}, отказано: ${refused}, причины в таблице.`,
  columns: {
    amount: 'сумма',
    phone: 'телефон',
    bankId: 'банк',
    fullName: 'ФИО',
    accountNumber: 'счёт',
    bik: 'БИК',
    inn: 'ИНН',
    reason: 'назначение',
  },
  sample: 'Пример файла',
  reason: 'Назначение, если его нет в строке',
};

export const useBatchWords = sectionWords(en, ru);
export type BatchWords = typeof en;
