/** A merchant's own accounts at acquirers; their secrets are never shown. */
import * as graph from '../../../schema/generated/console.ts';
import { AddBar, type MerchantDialog, PolicyForm, useActs } from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import { PickField, TextField, useTyped } from '../parts/fields.tsx';
import { Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status, Moment } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { policyWords as own } from '../words/policies.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';

type Row = graph.AccountsQuery['bankAccounts'][number];

const columnsOf = (): readonly Column<Row>[] => [
  { name: own.connector, cell: ({ connector }) => <code>{connector}</code> },
  { name: own.account, cell: ({ account }) => account },
  { name: own.purpose, isWide: true, cell: ({ purpose }) => own.purposes[purpose] },
  {
    name: words.columns.status,
    cell: ({ active }) => (
      <Status tone={active ? 'good' : 'over'}>{active ? own.on : own.off}</Status>
    ),
  },
  { name: own.since, isWide: true, cell: ({ changedAt }) => <Moment at={changedAt} /> },
];

const nothingTyped = {
  purpose: 'payments' as graph.BankAccountPurpose,
  connector: '',
  account: '',
  secret: '',
};

const SetDialog = ({ merchantId, close }: MerchantDialog) => {
  const set = useSend(graph.SetAccount);
  const { typed, held } = useTyped(nothingTyped);
  const [connector, account] = [typed.connector.trim(), typed.account.trim()];
  return (
    <PolicyForm
      title={own.accountAdd}
      consequence={own.accountText}
      isReady={connector !== '' && account !== '' && typed.secret !== ''}
      close={close}
      act={() => set({ merchantId, ...typed, connector, account }, own.done)}
    >
      <PickField
        label={own.purpose}
        {...held('purpose')}
        options={Object.entries(own.purposes) as [graph.BankAccountPurpose, string][]}
      />
      <TextField label={own.connector} hint={own.connectorHint} {...held('connector')} />
      <TextField label={own.account} {...held('account')} />
      <TextField label={own.secret} hint={own.secretHint} {...held('secret')} isSecret />
    </PolicyForm>
  );
};

export const AccountsPart = ({ merchantId }: { readonly merchantId: string }) => {
  const { data, error, again } = useAsk(graph.Accounts, { merchantId });
  const remove = useSend(graph.RemoveAccount);
  const { button, dialog } = useActs(again);
  const column: Column<Row> = {
    name: words.columns.action,
    cell: ({ active, connector, purpose }) =>
      active &&
      button({
        permission: 'bankAccountRemove',
        name: sharedWords.remove,
        Form: PolicyForm,
        title: own.accountRemove,
        consequence: own.accountRemoveText,
        act: () => remove({ merchantId, connector, purpose }, own.done),
      }),
  };
  const rows = data?.bankAccounts.map((row) => ({
    ...row,
    id: `${row.connector} ${row.purpose} ${row.account}`,
  }));
  return (
    <>
      <AddBar permission="bankAccountSet" name={own.accountAdd} again={again}>
        {(close) => <SetDialog merchantId={merchantId} close={close} />}
      </AddBar>
      <Listing
        name="accounts"
        label={own.tabs.accounts}
        asked={{ error, again, rows }}
        columns={[...columnsOf(), column]}
        empty={<Empty title={own.accountsEmpty} />}
      />
      {dialog}
    </>
  );
};
