/** The field of a bank of SBP: the frequent ones first, found by the names that people use. */
import type { Labelled } from '../parts/fields.tsx';
import { useState } from 'react';
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components';
import type * as graph from '../../../schema/generated/console.ts';
import { sharedWords } from '../words/shared.ts';

type Bank = graph.SbpBanksQuery['sbpBanks'][number];

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

interface Option {
  readonly key: string;
  readonly name: string;
  /** Beside the name. */
  readonly note?: string;
  /** Other texts that find it. */
  readonly also?: string;
}

const searchable = (text: string): string => text.toLowerCase().replaceAll('ё', 'е').trim();

const optionsOf = (options: readonly Option[], text: string): readonly Option[] =>
  options.filter(({ name, note = '', also = '' }) =>
    searchable(`${name} ${note} ${also}`).includes(searchable(text)),
  );

/** A press on it leaves the focus in the field, and with it the text that was typed. */
const NothingFound = () => (
  <p className="quiet" onMouseDown={(event) => event.preventDefault()}>
    {sharedWords.nothing}
  </p>
);

/** The field. Its whole list is there as long as nothing is typed. */
export const ChooseField = ({
  label,
  value,
  set,
  options,
  hint = '',
}: Labelled<string> & {
  readonly options: readonly Option[];
  readonly hint?: string;
}) => {
  const chosen = options.find(({ key }) => key === value);
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <ComboBox
      className="field"
      items={optionsOf(options, typed ?? '').map((option) => ({ ...option, id: option.key }))}
      inputValue={typed ?? chosen?.name ?? ''}
      value={chosen ? value : null}
      menuTrigger="focus"
      allowsEmptyCollection
      onInputChange={(text) => {
        if (text === (typed ?? chosen?.name ?? '')) return;
        setTyped(text);
        if (value !== '') set('');
      }}
      onChange={(key) => {
        setTyped(null);
        if (key !== null) set(String(key));
      }}
      onOpenChange={(isOpen) => {
        if (!isOpen) setTyped(null);
      }}
    >
      <Label>{label}</Label>
      <Input />
      {hint !== '' && (
        <Text slot="description" className="quiet">
          {hint}
        </Text>
      )}
      <Popover className="popover options-list" maxHeight={300}>
        <ListBox renderEmptyState={() => <NothingFound />}>
          {({ key, name, note }: Option) => (
            <ListBoxItem id={key} className="menu-item" textValue={name}>
              {name}
              {note !== undefined && <span className="quiet">{note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
};

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
