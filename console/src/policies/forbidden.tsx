/** Words that no payment's description may contain, for all merchants. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  AllowWord,
  ForbiddenWords,
  ForbidWord,
  type ForbiddenWordsQuery,
} from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ended, outcomeOf } from '../parts/outcome.ts';
import { TextField } from '../parts/fields.tsx';
import { Listing } from '../parts/listing.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission } from '../viewer.tsx';
import { usePolicyWords } from '../words/policies.ts';
import { useWords } from '../words/words.ts';
import { AddBar, PolicyForm } from './act.tsx';

type Row = ForbiddenWordsQuery['forbiddenPurposes']['nodes'][number];

const AddDialog = ({ close }: { readonly close: () => void }) => {
  const words = useWords();
  const own = usePolicyWords();
  const [, add] = useMutation(ForbidWord);
  const [word, setWord] = useState('');
  const [reason, setReason] = useState('');
  const asked = { word: word.trim(), reason: reason.trim() };
  return (
    <PolicyForm
      title={own.wordAdd}
      consequence={own.wordText}
      isReady={asked.word !== '' && asked.reason !== ''}
      close={close}
      act={async () =>
        outcomeOf(await add(asked), (data) => ended(data.forbiddenPurposeAdd, own.done))
      }
    >
      <TextField label={own.word} value={word} set={setWord} hint={own.wordHint} />
      <TextField label={words.columns.reason} value={reason} set={setReason} />
    </PolicyForm>
  );
};

const RemoveDialog = ({ row, close }: { readonly row: Row; readonly close: () => void }) => {
  const own = usePolicyWords();
  const [, remove] = useMutation(AllowWord);
  return (
    <PolicyForm
      title={own.wordRemove}
      consequence={own.wordRemoveText(row.word)}
      close={close}
      act={async () =>
        outcomeOf(await remove({ id: row.id }), (data) =>
          ended(data.forbiddenPurposeRemove, own.done),
        )
      }
    />
  );
};

/** The part of the screen. */
export const ForbiddenPart = () => {
  const words = useWords();
  const own = usePolicyWords();
  const add = usePermission('forbiddenPurposeAdd');
  const remove = usePermission('forbiddenPurposeRemove');
  const [open, setOpen] = useState<'add' | Row | null>(null);
  const { data, error, again, list } = useAsk(ForbiddenWords, usePageArguments());
  const found = data?.forbiddenPurposes;
  const close = (): void => {
    setOpen(null);
    again();
  };
  const columns: readonly Column<Row>[] = [
    { name: own.word, cell: ({ word }) => <code>{word}</code> },
    { name: words.columns.reason, cell: ({ reason }) => <span className="wrap">{reason}</span> },
    { name: own.since, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      name: words.columns.action,
      cell: (row) => (
        <ActButton permission={remove} onPress={() => setOpen(row)}>
          {own.wordRemove}
        </ActButton>
      ),
    },
  ];
  return (
    <>
      <p className="quiet">{own.wordsText}</p>
      <AddBar permission={add} onPress={() => setOpen('add')}>
        {own.wordAdd}
      </AddBar>
      <Listing
        name="forbidden"
        label={own.tabs.words}
        asked={{ error, again, list, rows: found?.nodes, pageInfo: found?.pageInfo }}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title={own.wordsEmpty} />}
      />
      {open === 'add' && <AddDialog close={close} />}
      {open !== null && open !== 'add' && <RemoveDialog row={open} close={close} />}
    </>
  );
};
