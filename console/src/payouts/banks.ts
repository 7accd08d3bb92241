/** The banks of SBP in a form: the frequent ones first, found by the names that people use. */
import type { SbpBanksQuery } from '../../../schema/generated/console.ts';
import type { Option } from '../parts/choose-field.tsx';

type Bank = SbpBanksQuery['sbpBanks'][number];

/** The banks that most people have, commonest first, with other names of theirs. */
const frequent: ReadonlyMap<string, string> = new Map([
  ['100000000111', 'Сбер Sber'],
  ['100000000004', 'Тинькофф Tinkoff Т-Банк'],
  ['110000000005', 'VTB'],
  ['100000000008', 'Alfa Альфа'],
  ['100000000273', 'Ozon'],
  ['100000000001', 'ГПБ GPB'],
  ['100000000150', 'Яндекс Банк Yandex Bank'],
  ['100000000007', 'Райф'],
  ['100000000013', 'Халва'],
  ['100000000020', 'РСХБ'],
]);

/** The options of a field. */
export const bankOptions = (banks: readonly Bank[], language: string): readonly Option[] => {
  const order = [...frequent.keys()];
  const place = ({ key }: Option): number => order.indexOf(key) + 1 || order.length + 1;
  return banks
    .map(({ memberId, name, nameEn }) => ({
      key: memberId,
      name: language === 'ru' ? name : nameEn,
      also: [name, nameEn, frequent.get(memberId) ?? ''].join(' '),
    }))
    .toSorted((one, other) => place(one) - place(other) || one.name.localeCompare(other.name));
};

const bare = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/(?:^|\s)(?:пао|ао|банк|bank)(?=\s|$)/g, ' ')
    .replaceAll(/[^\p{L}\d]/gu, '');

/** The bank of a text in a file: its member id, or a name that fits one bank. Else null. */
export const bankOf = (text: string, banks: readonly Bank[]): Bank | null => {
  const wanted = bare(text);
  if (wanted === '') return null;
  const namesOf = ({ memberId, name, nameEn }: Bank): readonly string[] =>
    [memberId, name, nameEn, ...(frequent.get(memberId) ?? '').split(' ')].map(bare);
  const exact = banks.filter((bank) => namesOf(bank).includes(wanted));
  const found =
    exact.length > 0
      ? exact
      : banks.filter((bank) => namesOf(bank).some((name) => name.includes(wanted)));
  return found.length === 1 ? (found[0] ?? null) : null;
};
