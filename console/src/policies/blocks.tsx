/** What is blocked: block lists for all merchants or for one, and words in descriptions. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import {
  AddBar,
  type MerchantDialog,
  PolicyForm,
  useActs,
  type Closable,
} from '../parts/act-form.tsx';
import { PickField, TextField } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { useSend } from '../parts/outcome.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { policyWords as own } from '../words/policies.ts';
import { words } from '../words/words.ts';

type Row = graph.BlocksQuery['blockEntries']['nodes'][number];

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.type, cell: ({ kind }) => own.blockKinds[kind] },
  { name: own.value, cell: ({ shown }) => <code>{shown}</code> },
  { name: words.columns.reason, isWide: true, cell: ({ reason }) => reason },
  { name: own.since, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const AddDialog = ({ merchantId, close }: MerchantDialog<string | null>) => {
  const add = useSend(graph.AddBlock);
  const [kind, setKind] = useState<graph.BlockKind>('phone');
  const [value, setValue] = useState('');
  const [reason, setReason] = useState('');
  const asked = { merchantId, kind, value: value.trim(), reason: reason.trim() };
  return (
    <PolicyForm
      title={own.blockAdd}
      consequence={merchantId === null ? `${own.blockText} ${words.allMerchants}.` : own.blockText}
      isReady={asked.value !== '' && asked.reason !== ''}
      close={close}
      act={() => add(asked, own.done)}
    >
      <PickField
        label={words.columns.type}
        value={kind}
        set={setKind}
        options={Object.entries(own.blockKinds) as [graph.BlockKind, string][]}
      />
      <TextField label={own.value} value={value} set={setValue} hint={own.valueHint} />
      <TextField label={words.columns.reason} value={reason} set={setReason} />
    </PolicyForm>
  );
};

export const BlocksPart = () => {
  const merchantId = useWhose();
  const asked = usePage(graph.Blocks, { merchantId });
  const { again } = asked;
  const remove = useSend(graph.RemoveBlock);
  const { button, dialog } = useActs(again);
  const column: Column<Row> = {
    name: words.columns.action,
    cell: ({ merchantId: owner, id }) =>
      button({
        permission: 'blockEntryRemove',
        Form: PolicyForm,
        title: own.blockRemove,
        consequence: own.blockRemoveText,
        act: () => remove({ merchantId: owner, id }, own.done),
      }),
  };
  return (
    <>
      {merchantId === null && <p className="quiet">{own.ofAll}</p>}
      <AddBar permission="blockEntryAdd" name={own.blockAdd} again={again}>
        {(close) => <AddDialog merchantId={merchantId} close={close} />}
      </AddBar>
      <Listing
        name="blocks"
        label={own.tabs.blocks}
        asked={asked}
        columns={[...columnsOf(), column]}
        empty={<Empty title={own.blocksEmpty} />}
      />
      {dialog}
    </>
  );
};

// Words that no payment's description may contain, for all merchants.

type ForbiddenWord = graph.ForbiddenWordsQuery['forbiddenPurposes']['nodes'][number];

const AddWordDialog = ({ close }: Closable) => {
  const add = useSend(graph.ForbidWord);
  const [word, setWord] = useState('');
  const [reason, setReason] = useState('');
  const asked = { word: word.trim(), reason: reason.trim() };
  return (
    <PolicyForm
      title={own.wordAdd}
      consequence={own.wordText}
      isReady={asked.word !== '' && asked.reason !== ''}
      close={close}
      act={() => add(asked, own.done)}
    >
      <TextField label={own.word} value={word} set={setWord} hint={own.wordHint} />
      <TextField label={words.columns.reason} value={reason} set={setReason} />
    </PolicyForm>
  );
};

export const ForbiddenPart = () => {
  const asked = usePage(graph.ForbiddenWords, {});
  const { again } = asked;
  const remove = useSend(graph.AllowWord);
  const { button, dialog } = useActs(again);
  const column: Column<ForbiddenWord> = {
    name: words.columns.action,
    cell: ({ id, word }) =>
      button({
        permission: 'forbiddenPurposeRemove',
        Form: PolicyForm,
        title: own.wordRemove,
        consequence: own.wordRemoveText(word),
        act: () => remove({ id }, own.done),
      }),
  };
  const columns: readonly Column<ForbiddenWord>[] = [
    { name: own.word, cell: ({ word }) => <code>{word}</code> },
    { name: words.columns.reason, cell: ({ reason }) => <span className="wrap">{reason}</span> },
    { name: own.since, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
    column,
  ];
  return (
    <>
      <p className="quiet">{own.wordsText}</p>
      <AddBar permission="forbiddenPurposeAdd" name={own.wordAdd} again={again}>
        {(close) => <AddWordDialog close={close} />}
      </AddBar>
      <Listing
        name="forbidden"
        label={own.tabs.words}
        asked={asked}
        columns={columns}
        empty={<Empty title={own.wordsEmpty} />}
      />
      {dialog}
    </>
  );
};
