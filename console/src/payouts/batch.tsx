/** Payouts of a file: every line checked before anything is sent, then a draft for each good one. */
import { money } from '../format.ts';
import { useMemo, useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Button } from '../parts/button.tsx';
import { ActButton, ActForm, type Closable } from '../parts/act-form.tsx';
import type { Outcome } from '../parts/outcome.tsx';
import { offer } from '../parts/export-button.tsx';
import { FileField, ShopPick, TextField } from '../parts/fields.tsx';
import { useShops } from '../parts/filters.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/texts.tsx';
import { readTable, type Rows } from '../parts/table-file.ts';
import { Table, type Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { batchWords as own, draftWords } from '../words/drafts.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { Available } from './available.tsx';
import { proposeDraft } from './draft-acts.tsx';
import {
  columnNames,
  columnsOf,
  lines_max,
  linesOf,
  type Line,
  amountOf,
  inputOf,
} from './draft-fields.ts';

/** Larger files are not lists of payouts. */
const file_max_bytes = 5 * 1_024 * 1_024;

type End = { readonly refused: string } | 'proposed';
type Ends = ReadonlyMap<number, End>;

const sumOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { typed }) => sum + (amountOf(typed) ?? 0), 0);

const StateOf = ({ line, ends }: { readonly line: Line; readonly ends: Ends }) => {
  const end = ends.get(line.number);
  if (end === 'proposed') return <Status tone="good">{own.sent}</Status>;
  const faults = end ? [end.refused] : line.wrong.map((field) => own.wrong[field]);
  if (faults.length > 0)
    return (
      <span className="stack">
        <Status tone="bad">{own.bad}</Status>
        <span className="wrap">{faults.join('; ')}</span>
      </span>
    );
  return (
    <span className="stack">
      <Status tone={line.sameAs === null ? 'good' : 'waiting'}>{own.good}</Status>
      {line.sameAs !== null && <span className="quiet">{own.same(line.sameAs)}</span>}
    </span>
  );
};

const shownColumns = (ends: Ends): readonly Column<Line>[] => [
  { name: own.line, isNumber: true, cell: ({ number }) => number },
  { name: own.state, cell: (line) => <StateOf line={line} ends={ends} /> },
  {
    name: words.columns.amount,
    isNumber: true,
    cell: ({ typed }) => {
      const amount = amountOf(typed);
      return amount === null ? typed.amount : money(amount, 'RUB');
    },
  },
  {
    name: words.columns.recipient,
    cell: ({ typed: { method, phone, accountNumber, fullName }, bank }) => (
      <span className="stack">
        <span>{method === 'payouts_account' ? accountNumber : phone}</span>
        <span className="quiet wrap">{[fullName, bank].filter(Boolean).join(' · ')}</span>
      </span>
    ),
  },
  { name: draftWords.reason, isWide: true, cell: ({ reason }) => reason },
];

/** Identifies a line, for the key under which it is sent once. */
const digestOf = async ({ number, typed }: Line): Promise<string> => {
  const text = JSON.stringify([number, inputOf(typed)]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Sends the lines one after another, until one has no answer. `end` receives what became of each. */
const useSending = (merchantId: string, batchId: string, end: (line: Line, end: End) => void) => {
  const { mode } = useAddress();
  return async (
    shopId: string,
    lines: readonly Line[],
    purpose: string,
    count: (done: number) => void,
  ): Promise<Outcome> => {
    let refused = 0;
    for (const [index, line] of lines.entries()) {
      count(index + 1);
      // A line whose answer was lost is not proposed twice, also when the dialog was closed meanwhile.
      const of = `batch/${shopId}/${mode}/${await digestOf(line)}`;
      const asked = { merchantId, shopId, mode, recipientOf: null, batchId };
      const outcome = await proposeDraft(of, asked, line.typed, line.reason || purpose);
      if ('unknown' in outcome) return outcome;
      if ('done' in outcome) {
        end(line, 'proposed');
        continue;
      }
      refused += 1;
      end(line, outcome);
    }
    const done = lines.length - refused;
    return refused === 0 ? { done: own.done(done) } : { refused: own.partly(done, refused) };
  };
};

interface Read {
  /** Under which its drafts are found again. */
  readonly batchId: string;
  readonly name: string;
  readonly rows: Rows;
}

const BatchFile = ({ set }: { readonly set: (read: Read | null) => void }) => {
  const [fault, setFault] = useState('');
  const read = async (file: File): Promise<void> => {
    set(null);
    setFault('');
    if (file.size > file_max_bytes) return setFault(own.tooLarge);
    try {
      const rows = await readTable(file);
      if (!columnsOf(rows[0]?.cells ?? []).has('amount')) return setFault(own.noAmounts);
      if (rows.length < 2) return setFault(own.noLines);
      if (rows.length - 1 > lines_max) return setFault(own.tooLong(String(rows.length - 1)));
      return set({ batchId: crypto.randomUUID(), name: file.name, rows });
    } catch {
      return setFault(own.unreadable);
    }
  };
  const sample = (): void => {
    const head = columnNames.map((name) => own.columns[name]).join(';');
    const row = `1200,50;+7 916 123-45-67;${words.language === 'ru' ? 'Сбербанк' : 'Sberbank'};;;;;`;
    offer(
      new Blob([`\uFEFF${head}\r\n${row}\r\n`], { type: 'text/csv;charset=utf-8' }),
      'payouts.csv',
    );
  };
  return (
    <div className="card">
      <p>{own.text}</p>
      <FileField
        label={sharedWords.file}
        accept=".csv,.xlsx,text/csv"
        hint={own.fileHint}
        fault={fault}
        take={read}
      />
      <Button press={sample}>{own.sample}</Button>
    </div>
  );
};

const SendDialog = ({
  merchantId,
  batchId,
  lines,
  wrong,
  end,
  close,
}: Closable & {
  readonly merchantId: string;
  readonly batchId: string;
  readonly lines: readonly Line[];
  readonly wrong: number;
  readonly end: Parameters<typeof useSending>[2];
}) => {
  const { mode } = useAddress();
  const shops = useShops();
  const [chosen, choose] = useState('');
  const shopId = chosen || (shops[0]?.id ?? '');
  const [purpose, setPurpose] = useState('');
  const [done, setDone] = useState(0);
  // What the dialog was opened with: lines that were proposed leave the list under it.
  const [sending] = useState(lines);
  // The list under it is read anew when the banks come again: a line is known by its number.
  const good = new Set(lines.map(({ number }) => number));
  const left = sending.filter(({ number }) => good.has(number));
  const propose = useSending(merchantId, batchId, end);
  const sum = money(sumOf(sending), 'RUB');
  const itemsOf = (some: readonly Line[]) =>
    some.map(({ typed }) => ({ shopId, method: typed.method, amount: amountOf(typed) ?? 0 }));
  return (
    <ActForm
      title={own.propose(own.payouts(sending.length))}
      consequence={own.consequence(sending.length, sum, wrong)}
      isReady={shopId !== ''}
      close={close}
      act={() => propose(shopId, left, purpose.trim(), setDone)}
    >
      <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={choose} />
      <Available
        merchantId={merchantId}
        mode={mode}
        items={shopId === '' ? [] : itemsOf(sending)}
      />
      <TextField label={own.reason} value={purpose} set={setPurpose} hint={draftWords.reasonHint} />
      <p role="status">{done > 0 && own.progress(done, sending.length)}</p>
    </ActForm>
  );
};

const Preview = ({ merchantId, read }: { readonly merchantId: string; readonly read: Read }) => {
  const { data } = useAsk(graph.SbpBanks, {});
  const lines = useMemo(() => linesOf(read.rows, data?.sbpBanks ?? []), [read, data]);
  const [ends, setEnds] = useState<Ends>(new Map());
  const [isOpen, setOpen] = useState(false);
  const columns = useMemo(() => shownColumns(ends), [ends, words.language]);
  if (!data) return null;
  const good = lines.filter(({ wrong, number }) => wrong.length === 0 && !ends.has(number));
  const wrong = lines.filter((line) => line.wrong.length > 0).length;
  const sum = money(sumOf(good), 'RUB');
  return (
    <>
      <div className="part-head">
        <p role="status">
          {read.name}: {own.summary(String(good.length), String(wrong), sum)}
        </p>
        {good.length > 0 && (
          <ActButton permission="payoutDraftCreate" isMain onPress={() => setOpen(true)}>
            {own.propose(own.payouts(good.length))}
          </ActButton>
        )}
      </div>
      <Table
        label={own.title}
        columns={columns}
        rows={lines}
        keyOf={({ number }) => String(number)}
      />
      {isOpen && (
        <SendDialog
          merchantId={merchantId}
          batchId={read.batchId}
          lines={good}
          wrong={wrong}
          end={({ number }, end) => setEnds((before) => new Map([...before, [number, end]]))}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
};

export const BatchPart = () => {
  const merchantId = useWhose();
  const [read, setRead] = useState<Read | null>(null);
  if (merchantId === null) return <Empty title={draftWords.chooseMerchant} />;
  return (
    <>
      <BatchFile set={setRead} />
      {read && <Preview key={read.batchId} merchantId={merchantId} read={read} />}
    </>
  );
};
