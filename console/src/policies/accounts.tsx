/** A merchant's own accounts at acquirers; their secrets are never shown. */
import * as graph from '../../../schema/generated/console.ts';
import { send } from '../parts/outcome.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, Moment } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { policyWords as own } from '../words/policies.ts';
import { sharedWords } from '../words/shared.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

type Row = graph.AccountsQuery['bankAccounts'][number];

/** Whether it is used. */
export const activeColumn = (): Column<{ readonly active: boolean }> => ({
  name: words.columns.status,
  cell: ({ active }) => (
    <Status tone={active ? 'good' : 'over'}>{active ? own.on : own.off}</Status>
  ),
});

const columnsOf = (): readonly Column<Row>[] => [
  { name: own.connector, cell: ({ connector }) => <code>{connector}</code> },
  { name: own.account, cell: ({ account }) => account },
  { name: own.purpose, isWide: true, cell: ({ purpose }) => own.purposes[purpose] },
  activeColumn(),
  { name: own.since, isWide: true, cell: ({ changedAt }) => <Moment at={changedAt} /> },
];

export const AccountsPart = ({ merchantId }: { readonly merchantId: string }) => {
  const { data, error } = useAsk(graph.Accounts, { merchantId });
  const rows = data?.bankAccounts.map((row) => ({
    ...row,
    id: `${row.connector} ${row.purpose} ${row.account}`,
  }));
  return (
    <Listing
      name="accounts"
      label={own.tabs.accounts}
      asked={{ error, rows }}
      columns={columnsOf}
      add={{
        permission: 'bankAccountSet',
        title: own.accountAdd,
        isAudited: true,
        consequence: own.accountText,
        fields: {
          purpose: { label: own.purpose, options: optionsOf(own.purposes) },
          connector: { label: own.connector, hint: own.connectorHint },
          account: { label: own.account },
          secret: { label: own.secret, hint: own.secretHint, isSecret: true },
        },
        act: (typed) => send(graph.SetAccount, { merchantId, ...typed }, own.done),
      }}
      actOf={({ active, connector, purpose }) =>
        active && {
          permission: 'bankAccountRemove',
          name: sharedWords.remove,
          isAudited: true,
          title: own.accountRemove,
          consequence: own.accountRemoveText,
          act: () => send(graph.RemoveAccount, { merchantId, connector, purpose }, own.done),
        }
      }
      empty={<Empty title={own.accountsEmpty} />}
    />
  );
};
