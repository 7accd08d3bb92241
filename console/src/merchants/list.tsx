/** Merchants, newest first, and onboarding. */
import { useNavigate } from '@tanstack/react-router';
import { Merchants, type MerchantsQuery } from '../../../schema/generated/console.ts';
import { kept, useAddress } from '../address.ts';
import { ActButton } from '../parts/act-button.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission } from '../viewer.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { OnboardDialog } from './onboard.tsx';

type Row = MerchantsQuery['merchants']['nodes'][number];

const columnsOf = (words: Words): readonly Column<Row>[] => [
  { name: words.columns.name, cell: ({ name }) => <strong className="cut">{name}</strong> },
  {
    name: words.columns.mode,
    cell: ({ liveEnabled }) => (
      <Status tone={liveEnabled ? 'good' : 'over'}>
        {liveEnabled ? words.merchants.live : words.merchants.notLive}
      </Status>
    ),
  },
  {
    name: words.columns.shops,
    isWide: true,
    cell: ({ shops }) => <span className="cut">{shops.map(({ name }) => name).join(', ')}</span>,
  },
  { name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  { name: words.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

/** The screen. */
export const MerchantsPage = () => {
  const words = useWords();
  const navigate = useNavigate();
  const { search, set } = useAddress();
  const mayCreate = usePermission('merchantOnboard');
  const isAdding = search.act === 'new' && mayCreate.granted;
  const { data, error, again, list } = useAsk(Merchants, { ...usePageArguments() });
  const { nodes: rows, pageInfo } = data?.merchants ?? {};
  return (
    <>
      <header className="page-head">
        <h1>{words.sections.merchants}</h1>
        <ActButton permission={mayCreate} isMain onPress={() => set({ act: 'new' })}>
          {words.merchants.add}
        </ActButton>
      </header>
      <Listing
        name="merchants"
        label={words.sections.merchants}
        asked={{ error, again, list, rows, pageInfo }}
        columns={columnsOf(words)}
        keyOf={({ id }) => id}
        onOpen={({ id }) =>
          void navigate({ to: '/merchants/$id', params: { id }, search: kept(search) })
        }
        empty={
          <Empty title={words.merchants.empty}>
            <p>{words.merchants.emptyText}</p>
          </Empty>
        }
      />
      {isAdding && (
        <OnboardDialog
          close={() => {
            set({ act: undefined });
            again();
          }}
        />
      )}
    </>
  );
};
