/** What the columns of a registry are, said by a person where their names do not tell. */
import { useState } from 'react';
import type { Row } from '../parts/table-file.ts';
import { PickField } from '../parts/fields.tsx';
import { useReconciliationWords } from '../words/reconciliation.ts';
import type { Chosen, Unknown } from './read-registry.ts';
import { chosenFields, type ChosenField, type Field } from './registry-layouts.ts';

/** A column's place, what all lines are, or nothing. */
type Choice = '' | 'payment' | 'refund' | `${number}`;
type Choices = Readonly<Partial<Record<ChosenField, Choice>>>;

const option_max_chars = 60;

/** The choices as places; null while one that is needed is missing. */
const chosenOf = (head: Row, choices: Choices): Chosen | null => {
  const { kind, amount, at, reference, order } = choices;
  if (!kind || !amount || !at || !(reference || order)) return null;
  const columns: Partial<Record<Field, number>> = {};
  for (const field of chosenFields) {
    const choice = choices[field] ?? '';
    if (/^\d/.test(choice)) columns[field] = Number(choice);
  }
  const same = kind === 'payment' || kind === 'refund' ? kind : null;
  return { headLine: head.line, kind: same, isMinor: false, columns };
};

/** The form: each column with the first value below it. */
export const ColumnChoice = ({
  table: { head, sample },
  set,
}: {
  readonly table: Unknown;
  readonly set: (chosen: Chosen | null) => void;
}) => {
  const own = useReconciliationWords();
  const [choices, setChoices] = useState<Choices>({});
  const columns = head.cells.flatMap((name, place) => {
    if (name === '') return [];
    const value = sample.find(({ cells }) => cells[place])?.cells[place] ?? '';
    return [[`${place}` as const, `${name}: ${value}`.slice(0, option_max_chars)] as const];
  });
  const ofAll = (['payment', 'refund'] as const).map((kind) => [kind, own.allAre[kind]] as const);
  const choose = (field: ChosenField) => (choice: Choice) => {
    const next = { ...choices, [field]: choice };
    setChoices(next);
    set(chosenOf(head, next));
  };
  return (
    <fieldset className="items">
      <legend>{own.unknownHead(head.line)}</legend>
      {chosenFields.map((field) => (
        <PickField<Choice>
          key={field}
          label={own.fields[field]}
          value={choices[field] ?? ''}
          set={choose(field)}
          options={[['', own.absent], ...(field === 'kind' ? ofAll : []), ...columns]}
        />
      ))}
    </fieldset>
  );
};
