/** Payout drafts, and the decisions of a second person. */
import { money } from '../format.ts';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Button } from '../parts/button.tsx';
import { DraftState, draftRefusal, Proposer } from '../parts/decide.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { amountColumn, type Column, objectKey, Table, useChosen } from '../parts/table.tsx';
import { Status } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { RangeFilters, ManyChips, NoRows, useNarrowing } from '../parts/filters.tsx';
import { draftWords, manyDraftsWords as own } from '../words/drafts.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { DraftActs } from './draft-acts.tsx';
import { recipientText } from './recipient.tsx';
import { useState, type ReactNode } from 'react';
import { askOnce } from '../parts/use-ask.ts';
import { reason_max_chars } from '../../../schema/limits.ts';
import { ActForm, actButton, closeAct, type Closable } from '../parts/act-form.tsx';
import { TextField } from '../parts/fields.tsx';
import { send, type Outcome } from '../parts/outcome.tsx';
import { Available } from './available.tsx';

/*
 * The dialog that decides several drafts of a merchant: their number and sum, what they take, and
 * what became of each. A second press decides only what is left; the service pays no draft twice.
 */

type Row = graph.DraftRowFragment;
type Decision = 'approve' | 'reject';

type End = { readonly refused: string } | 'decided';
type Ends = ReadonlyMap<string, End>;

/** Drafts of one call. */
const call_rows = 50;

const sumOf = (drafts: readonly Row[]): number =>
  drafts.reduce((sum, { amount }) => sum + amount, 0);

/** Whether a draft can be approved with others: by another person, and without a card's number. */
const fits = (decision: Decision, { isMine, method }: Row): boolean =>
  decision === 'reject' || (!isMine && method !== 'payouts_card');

const endsOf = (
  decisions: graph.DraftDecisionsFragment['decisions'],
): readonly (readonly [id: string, end: End])[] =>
  decisions.map(({ id, draft, refusal }) => {
    if (!refusal) return [id, 'decided'];
    if (refusal.code === 'not_pending' && draft)
      return [id, { refused: draftWords.now(draftWords.statuses[draft.status]) }];
    return [id, { refused: draftRefusal(draftWords, refusal) }];
  });

/** Decides drafts in calls of a few, in their order, until one has no answer. */
const decideDrafts = async (
  decision: Decision,
  merchantId: string,
  left: readonly Row[],
  reason: string,
  end: (ends: ReturnType<typeof endsOf>) => void,
): Promise<Outcome> => {
  let refused = 0;
  const take = ({ decisions }: graph.DraftDecisionsFragment): string => {
    const ends = endsOf(decisions);
    refused += ends.filter(([, one]) => one !== 'decided').length;
    end(ends);
    return '';
  };
  for (let from = 0; from < left.length; from += call_rows) {
    const ids = left.slice(from, from + call_rows).map(({ id }) => id);
    const outcome = await (decision === 'approve'
      ? send(graph.ApproveDrafts, { merchantId, ids }, take)
      : send(graph.RejectDrafts, { merchantId, ids, reason }, take));
    if (!('done' in outcome)) return outcome;
  }
  const done = left.length - refused;
  // What was decided stays so: only where nothing was, the form stands again.
  if (refused === 0) return { done: own.done[decision](done) };
  const text = own.partly[decision](done, refused);
  return done === 0 ? { refused: text } : { done: text };
};

const columnsOfEnds = (decision: Decision, ends: Ends): readonly Column<Row>[] => [
  amountColumn(words.columns.amount),
  {
    name: words.columns.recipient,
    cell: (draft) => <span className="wrap">{recipientText(draft)}</span>,
  },
  {
    name: words.columns.status,
    cell: ({ id }) => {
      const end = ends.get(id);
      if (end === undefined) return <Status tone="waiting">{own.waits}</Status>;
      if (end === 'decided') return <Status tone="good">{own.decided[decision]}</Status>;
      return (
        <span className="stack">
          <Status tone="bad">{own.refused}</Status>
          <span className="wrap">{end.refused}</span>
        </span>
      );
    },
  },
];

const DecideDraftsDialog = ({
  decision,
  chosen,
  close,
}: Closable & { readonly decision: Decision; readonly chosen: readonly Row[] }) => {
  const [ends, setEnds] = useState<Ends>(new Map());
  const [reason, setReason] = useState('');
  // The oldest first, as the lines of a file: they are paid where the balance does not cover all.
  const able = chosen
    .filter((draft) => fits(decision, draft))
    .toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
  const left = able.filter(({ id }) => ends.get(id) !== 'decided');
  const [first] = able;
  const columns = columnsOfEnds(decision, ends);
  const lines = (
    <div className="dialog-rows">
      <Table label={own.label} columns={columns} rows={able} keyOf={({ id }) => id} />
    </div>
  );
  const items = left.map(({ shopId, method, amount }) => ({ shopId, method, amount }));
  const sum = money(sumOf(able), 'RUB');
  return (
    <ActForm
      title={own.title[decision](able.length)}
      consequence={own.consequence[decision](able.length, sum)}
      isReady={left.length > 0 && (decision === 'approve' || reason.trim() !== '')}
      close={close}
      result={left.length > 0 && lines}
      act={() =>
        decideDrafts(decision, first?.merchantId ?? '', left, reason.trim(), (some) =>
          setEnds((before) => new Map([...before, ...some])),
        )
      }
    >
      {able.length < chosen.length && (
        <p className="note">{own.left(chosen.length - able.length)}</p>
      )}
      {decision === 'approve' && first && (
        <Available merchantId={first.merchantId} mode={first.mode} items={items} />
      )}
      {decision === 'reject' && (
        <TextField
          label={draftWords.rejectReason}
          value={reason}
          set={setReason}
          hint={draftWords.rejectReasonHint}
          maxLength={reason_max_chars}
        />
      )}
      {lines}
    </ActForm>
  );
};

type Asked = Pick<graph.DraftsQueryVariables, 'merchantId' | 'filter'>;

/** Rows of one page while all are loaded; a merchant has at most 1,000 pending drafts. */
const page_rows = 200;
const pages_max = 5;

/** Loads the pending drafts of the list, whatever page it shows; null: there is no answer. */
const pendingOf = async (asked: Asked): Promise<readonly Row[] | null> => {
  const rows: Row[] = [];
  const pending: graph.DraftsQueryVariables = { ...asked, status: ['pending'], first: page_rows };
  let after: string | null = null;
  for (let page = 0; page < pages_max; page += 1) {
    const data: graph.DraftsQuery | undefined = await askOnce(graph.Drafts, { ...pending, after });
    if (!data) return null;
    const { nodes, pageInfo }: graph.DraftsQuery['payoutDrafts'] = data.payoutDrafts;
    rows.push(...nodes);
    if (!pageInfo.hasNextPage) return rows;
    after = pageInfo.endCursor;
  }
  return rows;
};

type Chosen = ReturnType<typeof useChosen<Row>>;

const ChooseDraft = ({
  draft,
  chosen: { chosen, toggle },
  children,
}: {
  readonly draft: Row;
  readonly chosen: Chosen;
  readonly children: ReactNode;
}) => {
  if (draft.status !== 'pending') return children;
  return (
    <span className="chosen">
      <input
        type="checkbox"
        aria-label={own.choose(recipientText(draft))}
        checked={chosen.has(draft.id)}
        onChange={() => toggle(draft)}
      />
      {children}
    </span>
  );
};

const ChosenDrafts = ({ chosen, choose, asked }: Chosen & { readonly asked: Asked }) => {
  const [isLost, setLost] = useState(false);
  const rows = [...chosen.values()];
  const chooseAll = async (): Promise<void> => {
    const all = await pendingOf(asked);
    setLost(all === null);
    if (all) choose(all);
  };
  const close = (): void => {
    choose([]);
    closeAct();
  };
  const dialogOf = (decision: Decision) => (
    <DecideDraftsDialog decision={decision} chosen={rows} close={close} />
  );
  return (
    <div className="acts" role="group" aria-label={own.label}>
      <Button press={() => void chooseAll()}>{own.chooseAll}</Button>
      {rows.length > 0 && (
        <>
          <span role="status">{own.chosen(rows.length, money(sumOf(rows), 'RUB'))}</span>
          {actButton({
            permission: 'payoutDraftsApprove',
            isMain: true,
            title: own.approveChosen,
            dialog: dialogOf('approve'),
          })}
          {actButton({
            permission: 'payoutDraftsReject',
            title: own.rejectChosen,
            dialog: dialogOf('reject'),
          })}
          <Button press={() => choose([])}>{sharedWords.chooseNone}</Button>
        </>
      )}
      {isLost && (
        <span className="bad" role="alert">
          {words.failure.offline}
        </span>
      )}
    </div>
  );
};

/** The file that a draft was proposed with: a press shows all of its drafts. */
const OfFile = ({ batchId }: { readonly batchId: string }) => {
  const { search, set } = useAddress();
  if (search.batch === batchId) return null;
  return (
    <button type="button" className="chip plain" onClick={() => set({ batch: batchId })}>
      {own.oneFile}
    </button>
  );
};

const columnsOf = (chosen: Chosen | null): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    cell: (draft) => {
      const state = <DraftState draft={draft} own={draftWords} />;
      if (chosen === null) return state;
      return (
        <ChooseDraft draft={draft} chosen={chosen}>
          {state}
        </ChooseDraft>
      );
    },
  },
  amountColumn(words.columns.amount),
  { name: words.columns.method, cell: ({ method }) => words.payout.methods[method] },
  {
    name: words.columns.recipient,
    cell: (draft) => (
      <span className="stack">
        <span className="wrap">{recipientText(draft)}</span>
        <span className="quiet wrap">{draft.reason}</span>
      </span>
    ),
  },
  {
    name: draftWords.proposed,
    isNamed: true,
    cell: (draft) => (
      <Proposer draft={draft} own={draftWords}>
        {draft.batchId !== null && <OfFile batchId={draft.batchId} />}
      </Proposer>
    ),
  },
  { name: words.columns.shop, isWide: true, cell: ({ shop }) => shop.name },
  { name: words.columns.acts, cell: (draft) => <DraftActs draft={draft} /> },
];

export const DraftsList = () => {
  const { search } = useAddress();
  const merchantId = useWhose();
  const choice = useChosen<Row>();
  const { status, filter } = useNarrowing(draftWords.statuses).asked;
  const narrowing = { merchantId, filter: { ...filter, batchId: search.batch ?? null } };
  const asked = usePage(graph.Drafts, { ...narrowing, status }, { lists: ['payout_drafts'] });
  const { rows } = asked;
  // Drafts of several merchants have several balances: they are decided one merchant at a time.
  const isWaiting =
    merchantId !== null &&
    (choice.chosen.size > 0 || rows?.some((one) => one.status === 'pending') === true);
  return (
    <>
      <ManyChips names={draftWords.statuses} />
      <RangeFilters more={[{ field: 'batch', shown: search.batch && own.oneFile }]} />
      <Listing
        name="payout-drafts"
        label={draftWords.tabs.drafts}
        asked={asked}
        columns={() => columnsOf(isWaiting ? choice : null)}
        tools={isWaiting && <ChosenDrafts {...choice} asked={narrowing} />}
        keyOf={objectKey}
        empty={<NoRows of={draftWords} />}
      />
    </>
  );
};
