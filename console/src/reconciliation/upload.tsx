/** The dialog that reads an acquirer's registry, shows what is in it, and uploads its lines. */
import { useMemo, useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { wholeNumber, fromZoneField, startOfDay, toZoneField, money } from '../format.ts';
import { ActForm } from '../parts/act-form.tsx';
import { DateField, FileField, PickField } from '../parts/fields.tsx';
import { type Outcome, toldBy, send } from '../parts/outcome.tsx';
import { NoTable, readTable, type Rows, type Row } from '../parts/table-file.ts';
import { reconciliationWords as own } from '../words/reconciliation.ts';
import { sharedWords } from '../words/shared.ts';
import {
  readRegistry,
  type Chosen,
  type Mistake,
  type RegistryLine,
  type Unknown,
  partsOf,
  referenceOf,
} from './read-registry.ts';
import { chosenFields, type ChosenField, type Field } from './registry-layouts.ts';

/** A day of a large merchant; a longer registry is uploaded day by day. */
const file_max_mb = 20;
const mistakes_max = 20;

interface Registry extends Omit<graph.OpenRunMutationVariables, 'reference'> {
  readonly name: string;
  readonly lines: readonly RegistryLine[];
}

/** Whose registries there are in a mode, the commonest first. */
const connectorsIn = {
  live: ['yookassa', 'tbank'],
  test: ['simulator', 'yookassa', 'tbank'],
} as const;
type Connector = (typeof connectorsIn)['test'][number];

interface Days {
  readonly since: string;
  readonly until: string;
}

const dayOf = (at: Date): string => toZoneField(at).slice(0, 10);
const startOf = (day: string): string => fromZoneField(`${day}T00:00`)?.toISOString() ?? '';

/** The days that the lines cover; yesterday without lines. */
const daysOf = (lines: readonly RegistryLine[]): Days => {
  const [first] = lines;
  if (!first) return { since: dayOf(startOfDay(1)), until: dayOf(startOfDay(0)) };
  const [from, to] = lines.reduce(
    ([least, most], { at }) => [at < least ? at : least, at > most ? at : most],
    [first.at, first.at],
  );
  // A day has 25 hours at most, and the next one begins within 36.
  const next = Date.parse(startOf(dayOf(new Date(to)))) + 36 * 3_600_000;
  return { since: dayOf(new Date(from)), until: dayOf(new Date(next)) };
};

const summaryOf = (lines: readonly RegistryLine[]): string => {
  const sums = [...Map.groupBy(lines, ({ kind, currency }) => `${kind} ${currency}`).values()].map(
    (same) => {
      const [{ kind, currency } = { kind: 'payment' as const, currency: 'RUB' }] = same;
      const sum = same.reduce((all, { amount }) => all + Number(amount), 0);
      return own.read(own.operations[kind], wholeNumber(same.length), money(sum, currency));
    },
  );
  return sums.length === 0 ? own.readNone : sums.join('; ');
};

const mistakeText = ({ line, column, wrong }: Mistake): string =>
  column === null
    ? own.mistakeOfLine(line, own.mistakes[wrong])
    : own.mistake(line, column.slice(0, 60), own.mistakes[wrong]);

const Mistakes = ({ found }: { readonly found: readonly Mistake[] }) => (
  <div className="bad" role="alert">
    <p>{own.mistaken(found.length)}</p>
    <ul>
      {found.slice(0, mistakes_max).map((one) => (
        <li key={`${one.line} ${one.column} ${one.wrong}`}>{mistakeText(one)}</li>
      ))}
    </ul>
  </div>
);

interface Taken {
  readonly name: string;
  readonly rows: Rows;
}

const RegistryFile = ({ set }: { readonly set: (taken: Taken | null) => void }) => {
  const [fault, setFault] = useState('');
  const [name, setName] = useState('');
  const take = async (file: File): Promise<void> => {
    set(null);
    setFault('');
    setName(file.name);
    if (file.size > file_max_mb * 1_024 * 1_024) return setFault(own.tooLarge(file_max_mb));
    try {
      return set({ name: file.name, rows: await readTable(file) });
    } catch (error) {
      const line = error instanceof NoTable ? error.line : null;
      return setFault(line === null ? own.noTable : own.mistakeOfLine(line, own.noTable));
    }
  };
  return (
    <FileField
      label={sharedWords.file}
      accept=".csv,.txt,.xlsx,text/csv"
      hint={name || own.fileHint}
      fault={fault}
      take={take}
    />
  );
};

/** What is in the file: with a known head, or with the columns that the person chose. */
const readTaken = (taken: Taken | null, connector: string, chosen: Chosen | null) => {
  if (!taken) return { known: null, unknown: null };
  const read = readRegistry(taken.rows, connector, null);
  if ('lines' in read) return { known: read, unknown: null };
  const again = chosen && readRegistry(taken.rows, connector, chosen);
  return { known: again && 'lines' in again ? again : null, unknown: read };
};

/** Sends all parts in order, then starts the matching. */
const useUpload = () => {
  const [done, setDone] = useState('');
  const upload = async ({ name, lines, ...asked }: Registry): Promise<Outcome> => {
    const parts = partsOf(lines);
    const reference = await referenceOf(name, parts);
    let runId = '';
    let outcome = await send(graph.OpenRun, { ...asked, reference }, ({ id }) => (runId = id));
    for (const [index, csv] of parts.entries()) {
      if (!('done' in outcome)) break;
      setDone(own.progress(index + 1, parts.length));
      outcome = await send(graph.AddPart, { runId, part: index + 1, csv }, '');
    }
    if ('done' in outcome)
      outcome = await send(graph.MatchRun, { runId }, (run) =>
        own.uploaded(wholeNumber(run.lines)),
      );
    return 'done' in outcome ? outcome : { refused: `${toldBy(outcome)} ${own.stopped}` };
  };
  return { done, upload };
};

// What the columns of a registry are, said by a person where their names do not tell.

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

const ColumnChoice = ({
  table: { head, sample },
  set,
}: {
  readonly table: Unknown;
  readonly set: (chosen: Chosen | null) => void;
}) => {
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

export const UploadDialog = () => {
  const { mode } = useAddress();
  const { done, upload } = useUpload();
  const [taken, setTaken] = useState<Taken | null>(null);
  const [connector, setConnector] = useState<Connector>(connectorsIn[mode][0]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [typed, setTyped] = useState<Partial<Days>>({});
  const { unknown, known } = useMemo(
    () => readTaken(taken, connector, chosen),
    [taken, connector, chosen],
  );
  const lines = known?.lines ?? [];
  const days = { ...daysOf(lines), ...typed };
  const act = (): Promise<Outcome> => {
    const span = { since: startOf(days.since), until: startOf(days.until) };
    return upload({ name: taken?.name ?? '', lines, connector, mode, ...span });
  };
  return (
    <ActForm
      title={own.upload}
      consequence={own.uploadText}
      isReady={known?.mistakes.length === 0 && days.since < days.until}
      act={act}
    >
      <PickField
        label={own.connector}
        value={connector}
        set={(name) => {
          setConnector(name);
          setChosen(null);
        }}
        options={connectorsIn[mode].map((name) => [name, own.connectors[name]] as const)}
      />
      <RegistryFile
        set={(file) => {
          setTaken(file);
          setChosen(null);
          setTyped({});
        }}
      />
      {unknown && <ColumnChoice key={connector} table={unknown} set={setChosen} />}
      {known?.mistakes.length === 0 && <p role="status">{summaryOf(lines)}</p>}
      {known && known.mistakes.length > 0 && <Mistakes found={known.mistakes} />}
      {(['since', 'until'] as const).map((name) => (
        <DateField
          key={name}
          label={own[name]}
          value={days[name]}
          set={(day) => setTyped({ ...typed, [name]: day })}
        />
      ))}
      <p role="status">{done}</p>
    </ActForm>
  );
};
