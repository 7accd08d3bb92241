/** Chooses drafts of a merchant in their list, to decide all of them by one act. */
import { useState, type ReactNode } from 'react';
import { useClient, type OperationResult } from 'urql';
import {
  Drafts,
  type DraftRowFragment,
  type DraftsQuery,
  type DraftsQueryVariables,
} from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { ActButton } from '../parts/act-button.tsx';
import { usePermission } from '../viewer.tsx';
import { useManyDraftsWords } from '../words/many-drafts.ts';
import { useWords } from '../words/words.ts';
import { DecideDraftsDialog, sumOf, type Decision } from './decide-drafts.tsx';
import { recipientText } from './draft-shown.ts';

type Row = DraftRowFragment;
type Asked = Pick<DraftsQueryVariables, 'merchantId' | 'filter'>;

/** Rows of one page while all are loaded; a merchant has at most 1,000 pending drafts. */
const page_rows = 200;
const pages_max = 5;

/** Loads the pending drafts of the list, whatever page it shows; null: there is no answer. */
const usePending = (asked: Asked) => {
  const client = useClient();
  return async (): Promise<readonly Row[] | null> => {
    const rows: Row[] = [];
    let after: string | null = null;
    for (let page = 0; page < pages_max; page += 1) {
      const variables: DraftsQueryVariables = {
        ...asked,
        status: ['pending'],
        first: page_rows,
        after,
      };
      const { data }: OperationResult<DraftsQuery> = await client
        .query(Drafts, variables, { requestPolicy: 'network-only' })
        .toPromise();
      if (!data) return null;
      const { nodes, pageInfo } = data.payoutDrafts;
      rows.push(...nodes);
      if (!pageInfo.hasNextPage) return rows;
      after = pageInfo.endCursor;
    }
    return rows;
  };
};

/** The chosen drafts, by their ids. */
export const useChosenDrafts = () => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map());
  const choose = (rows: readonly Row[]): void =>
    setChosen(new Map(rows.map((row) => [row.id, row])));
  const toggle = (row: Row): void => {
    const rows = [...chosen.values()];
    choose(chosen.has(row.id) ? rows.filter(({ id }) => id !== row.id) : [...rows, row]);
  };
  return { chosen, choose, toggle };
};
export type Chosen = ReturnType<typeof useChosenDrafts>;

/** The box that chooses a pending draft, beside its state. */
export const ChooseDraft = ({
  draft,
  chosen: { chosen, toggle },
  children,
}: {
  readonly draft: Row;
  readonly chosen: Chosen;
  readonly children: ReactNode;
}) => {
  const own = useManyDraftsWords();
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

/** What is chosen, and the buttons that decide it. */
export const ChosenDrafts = ({
  chosen,
  choose,
  asked,
  again,
}: Chosen & { readonly asked: Asked; readonly again: () => void }) => {
  const own = useManyDraftsWords();
  const { locale, failure } = useWords();
  const approve = usePermission('payoutDraftsApprove');
  const reject = usePermission('payoutDraftsReject');
  const load = usePending(asked);
  const [open, setOpen] = useState<Decision | null>(null);
  const [isLost, setLost] = useState(false);
  const rows = [...chosen.values()];
  const chooseAll = async (): Promise<void> => {
    const all = await load();
    setLost(all === null);
    if (all) choose(all);
  };
  const close = (): void => {
    setOpen(null);
    choose([]);
    again();
  };
  return (
    <div className="acts" role="group" aria-label={own.label}>
      <button type="button" className="button" onClick={() => void chooseAll()}>
        {own.chooseAll}
      </button>
      {rows.length > 0 && (
        <>
          <span role="status">{own.chosen(rows.length, money(sumOf(rows), 'RUB', locale))}</span>
          <ActButton permission={approve} isMain onPress={() => setOpen('approve')}>
            {own.approveChosen}
          </ActButton>
          <ActButton permission={reject} onPress={() => setOpen('reject')}>
            {own.rejectChosen}
          </ActButton>
          <button type="button" className="button" onClick={() => choose([])}>
            {own.chooseNone}
          </button>
        </>
      )}
      {isLost && (
        <span className="bad" role="alert">
          {failure.offline}
        </span>
      )}
      {open && <DecideDraftsDialog decision={open} chosen={rows} close={close} />}
    </div>
  );
};
