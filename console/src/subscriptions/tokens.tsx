/** The methods that buyers have saved with one merchant. */
import { useState } from 'react';
import { Tokens, type TokensQuery } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ActButton } from '../parts/act-button.tsx';
import { CustomerLink } from '../customers/link.tsx';
import { Listing } from '../parts/listing.tsx';
import { usePageArguments } from '../parts/pager.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, tones } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { Id, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission } from '../viewer.tsx';
import type { Words } from '../words/en.ts';
import { useSharedWords } from '../words/shared.ts';
import { useSubscriptionWords, type SubscriptionWords } from '../words/subscriptions.ts';
import { useWords } from '../words/words.ts';
import { EndTokenDialog } from './cancel-dialogs.tsx';
import { CustomerField } from './customer-field.tsx';

type Row = TokensQuery['tokensConnection']['nodes'][number];

const columnsOf = (words: Words, own: SubscriptionWords): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    cell: ({ status }) => <Status tone={tones[status]}>{own.tokenStatuses[status]}</Status>,
  },
  {
    name: own.card,
    cell: ({ method, cardBrand, cardMask }) =>
      [own.methods[method], cardBrand, cardMask].filter(Boolean).join(' '),
  },
  {
    name: own.customer,
    cell: ({ merchantId, customerRef }) => (
      <CustomerLink merchantId={merchantId} customer={customerRef} />
    ),
  },
  { name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  {
    name: own.lastCharge,
    isWide: true,
    cell: ({ lastChargedAt }) => (lastChargedAt === null ? '—' : <Moment at={lastChargedAt} />),
  },
  { name: words.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

/** The rows, each with the act that ends it. */
export const TokenTable = ({
  asked,
  empty,
}: Pick<Parameters<typeof Listing<Row>>[0], 'asked' | 'empty'>) => {
  const words = useWords();
  const own = useSubscriptionWords();
  const { search } = useAddress();
  const permission = usePermission('tokenCancel');
  const [ending, setEnding] = useState<Row | null>(null);
  const act: Column<Row> = {
    name: words.columns.action,
    cell: (row) =>
      row.status !== 'cancelled' && (
        <ActButton permission={permission} onPress={() => setEnding(row)}>
          {own.endToken}
        </ActButton>
      ),
  };
  return (
    <>
      <Listing
        name="tokens"
        label={own.tabs.tokens}
        asked={asked}
        columns={[...columnsOf(words, own), act]}
        keyOf={({ id }) => id}
        openKey={search.open?.split('/')[1] ?? null}
        empty={empty}
      />
      {ending && (
        <EndTokenDialog
          merchantId={ending.merchantId}
          id={ending.id}
          close={() => {
            setEnding(null);
            asked.again();
          }}
        />
      )}
    </>
  );
};

/** The list. */
export const TokenList = ({ merchantId }: { readonly merchantId: string }) => {
  const own = useSubscriptionWords();
  const shared = useSharedWords();
  const { search, mode } = useAddress();
  const customerRef = search.customer ?? null;
  const { data, error, again, list } = useAsk(Tokens, {
    merchantId,
    mode,
    customerRef,
    ...usePageArguments(),
  });
  const connection = data?.tokensConnection;
  return (
    <>
      <CustomerField />
      <TokenTable
        asked={{ error, again, list, rows: connection?.nodes, pageInfo: connection?.pageInfo }}
        empty={
          customerRef === null ? (
            <Empty title={own.tokensEmpty}>
              <p>{own.tokensEmptyText}</p>
            </Empty>
          ) : (
            <Empty title={shared.none} />
          )
        }
      />
    </>
  );
};
