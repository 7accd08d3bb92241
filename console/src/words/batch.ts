/** The words of payouts from a file. */
import type { Column } from '../payouts/draft-fields.ts';
import { plural, sectionWords, type Pair } from './table.ts';

export const useBatchWords = sectionWords({
  title: ['Payouts from a file', 'Выплаты из файла'],
  text: [
    'A CSV or XLSX file with a head line: amount, phone and bank, or account and BIK; name, INN and purpose if you have them. Each line becomes a draft, which another person approves.',
    'Файл CSV или XLSX с заголовком: сумма, телефон и банк либо счёт и БИК; если есть — ФИО, ИНН и назначение. Каждая строка станет черновиком, который одобрит другой человек.',
  ],
  file: ['File', 'Файл'],
  fileHint: [
    'Up to 1,000 lines and 5 MB. Card numbers are not taken from files.',
    'До 1000 строк и 5 МБ. Номера карт из файлов не принимаются.',
  ],
  unreadable: ['This is neither a CSV nor an XLSX file.', 'Это не CSV и не XLSX.'],
  tooLarge: ['The file is larger than 5 MB.', 'Файл больше 5 МБ.'],
  tooLong: [
    (lines: string) => `The file has ${lines} lines: at most 1,000 are taken at once.`,
    (lines: string) => `В файле строк: ${lines}. За один раз принимается не больше 1000.`,
  ],
  noAmounts: [
    'The head line has no column of amounts: “amount”.',
    'В заголовке нет столбца «сумма».',
  ],
  noLines: ['There are no lines below the head.', 'Под заголовком нет строк.'],
  line: ['Line', 'Строка'],
  state: ['Check', 'Проверка'],
  good: ['Ready', 'Готова'],
  bad: ['Wrong', 'Ошибка'],
  same: [
    (line: number) => `Same as line ${line}: recipient and amount`,
    (line: number) => `Получатель и сумма как в строке ${line}`,
  ],
  sent: ['Proposed', 'Предложена'],
  wrong: {
    amount: [
      'amount from 0.01, and no comma between thousands alone: 10999 or 10,999.00',
      'сумма от 0,01; 10999 или 10 999,00, а не 10,999',
    ],
    phone: ['no Russian phone', 'не российский телефон'],
    bankId: ['no such bank, or several', 'такого банка нет, или их несколько'],
    cardPan: ['no card', 'нет карты'],
    accountNumber: ['account of 20 digits', 'счёт из 20 цифр'],
    bik: ['BIK of 9 digits', 'БИК из 9 цифр'],
    inn: ['INN of 10 or 12 digits', 'ИНН из 10 или 12 цифр'],
    fullName: ['name longer than 255', 'имя длиннее 255 символов'],
  },
  summary: [
    (good: string, bad: string, sum: string) => `${good} ready for ${sum}, ${bad} wrong`,
    (good: string, bad: string, sum: string) => `Готово: ${good} на ${sum}, с ошибками: ${bad}`,
  ],
  propose: [(count: string) => `Propose ${count}`, (count: string) => `Предложить ${count}`],
  payouts: [
    (count: number) => (count === 1 ? '1 payout' : `${count} payouts`),
    (count: number) => `${count} ${plural(count, 'выплату', 'выплаты', 'выплат')}`,
  ],
  consequence: [
    (count: number, sum: string, wrong: number) =>
      `Drafts to be made: ${count}, ${sum} together. Nothing moves until another person approves them.${wrong > 0 ? ` Wrong lines are left out: ${wrong}.` : ''}`,
    (count: number, sum: string, wrong: number) =>
      `Черновиков будет: ${count}, всего ${sum}. Деньги не движутся, пока их не одобрит другой человек.${wrong > 0 ? ` Строки с ошибками пропускаются: ${wrong}.` : ''}`,
  ],
  progress: [
    (done: number, all: number) => `${done} of ${all}`,
    (done: number, all: number) => `${done} из ${all}`,
  ],
  done: [
    (count: number) => `Waiting for another person: ${count}.`,
    (count: number) => `Ждут другого человека: ${count}.`,
  ],
  partly: [
    (done: number, refused: number) => `Proposed: ${done}, refused: ${refused}: see the table.`,
    (done: number, refused: number) =>
      `Предложено: ${done}, отказано: ${refused}, причины в таблице.`,
  ],
  columns: {
    amount: ['amount', 'сумма'],
    phone: ['phone', 'телефон'],
    bankId: ['bank', 'банк'],
    fullName: ['name', 'ФИО'],
    accountNumber: ['account', 'счёт'],
    bik: ['bik', 'БИК'],
    inn: ['inn', 'ИНН'],
    reason: ['purpose', 'назначение'],
  } satisfies Readonly<Record<Column, Pair<string>>>,
  sample: ['A sample file', 'Пример файла'],
  reason: ['What it is for, where the line does not say', 'Назначение, если его нет в строке'],
});
export type BatchWords = ReturnType<typeof useBatchWords>;
