/** A field that finds one of many options by a part of its name. */
import { useState } from 'react';
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components';
import { useSharedWords } from '../words/shared.ts';

export interface Option {
  readonly key: string;
  readonly name: string;
  /** Beside the name. */
  readonly note?: string;
  /** Other texts that find it. */
  readonly also?: string;
}

const bare = (text: string): string => text.toLowerCase().replaceAll('ё', 'е').trim();

/** The options that a text finds, in their order. */
const optionsOf = (options: readonly Option[], text: string): readonly Option[] =>
  options.filter(({ name, note = '', also = '' }) =>
    bare(`${name} ${note} ${also}`).includes(bare(text)),
  );

/** The field. Its whole list is there as long as nothing is typed. */
export const ChooseField = ({
  label,
  value,
  set,
  options,
  hint = '',
}: {
  readonly label: string;
  readonly value: string;
  /** Receives the key; empty when nothing is chosen any more. */
  readonly set: (key: string) => void;
  readonly options: readonly Option[];
  readonly hint?: string;
}) => {
  const { none } = useSharedWords();
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
        <ListBox renderEmptyState={() => <p className="quiet">{none}</p>}>
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
