/** What is blocked: block lists for all merchants or for one, and words in descriptions. */
import * as graph from '../../../schema/generated/console.ts';
import { Listing, usePage } from '../parts/listing.tsx';
import { send } from '../parts/outcome.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { policyWords as own } from '../words/policies.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

type Row = graph.BlocksQuery['blockEntries']['nodes'][number];

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.type, cell: ({ kind }) => own.blockKinds[kind] },
  { name: own.value, cell: ({ shown }) => <code>{shown}</code> },
  { name: words.columns.reason, isWide: true, cell: ({ reason }) => reason },
  { name: own.since, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

export const BlocksPart = () => {
  const merchantId = useWhose();
  const asked = usePage(graph.Blocks, { merchantId });
  return (
    <>
      {merchantId === null && <p className="quiet">{own.ofAll}</p>}
      <Listing
        name="blocks"
        label={own.tabs.blocks}
        asked={asked}
        columns={columnsOf}
        add={{
          permission: 'blockEntryAdd',
          title: own.blockAdd,
          isAudited: true,
          consequence:
            merchantId === null ? `${own.blockText} ${words.allMerchants}.` : own.blockText,
          fields: {
            kind: { label: words.columns.type, options: optionsOf(own.blockKinds) },
            value: { label: own.value, hint: own.valueHint },
            reason: { label: words.columns.reason },
          },
          act: (typed) => send(graph.AddBlock, { merchantId, ...typed }, own.done),
        }}
        actOf={({ merchantId: owner, id }) => ({
          permission: 'blockEntryRemove',
          isAudited: true,
          title: own.blockRemove,
          consequence: own.blockRemoveText,
          act: () => send(graph.RemoveBlock, { merchantId: owner, id }, own.done),
        })}
        empty={<Empty title={own.blocksEmpty} />}
      />
    </>
  );
};

// Words that no payment's description may contain, for all merchants.

type ForbiddenWord = graph.ForbiddenWordsQuery['forbiddenPurposes']['nodes'][number];

const wordColumns = (): readonly Column<ForbiddenWord>[] => [
  { name: own.word, cell: ({ word }) => <code>{word}</code> },
  { name: words.columns.reason, cell: ({ reason }) => <span className="wrap">{reason}</span> },
  { name: own.since, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

export const ForbiddenPart = () => (
  <>
    <p className="quiet">{own.wordsText}</p>
    <Listing
      name="forbidden"
      label={own.tabs.words}
      asked={usePage(graph.ForbiddenWords, {})}
      columns={wordColumns}
      add={{
        permission: 'forbiddenPurposeAdd',
        title: own.wordAdd,
        isAudited: true,
        consequence: own.wordText,
        fields: {
          word: { label: own.word, hint: own.wordHint },
          reason: { label: words.columns.reason },
        },
        act: (typed) => send(graph.ForbidWord, typed, own.done),
      }}
      actOf={({ id, word }) => ({
        permission: 'forbiddenPurposeRemove',
        isAudited: true,
        title: own.wordRemove,
        consequence: own.wordRemoveText(word),
        act: () => send(graph.AllowWord, { id }, own.done),
      })}
      empty={<Empty title={own.wordsEmpty} />}
    />
  </>
);
