/** Which acquirer serves which operation of a merchant's shops in live mode. */
import * as graph from '../../../schema/generated/console.ts';
import { AddBar, type MerchantDialog, PolicyForm, useActs } from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import { PickField, ShopPick, TextField, useTyped } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useShops } from '../parts/filters.tsx';
import { policyWords as own } from '../words/policies.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';

type Row = graph.RoutesQuery['bankRoutes']['nodes'][number];
type Shops = readonly { readonly id: string; readonly name: string }[];

const columnsOf = (shops: Shops): readonly Column<Row>[] => [
  { name: own.operation, cell: ({ operation }) => own.operations[operation] },
  { name: words.columns.method, cell: ({ method }) => own.methods[method] },
  { name: own.connector, cell: ({ connector }) => <code>{connector}</code> },
  { name: own.priority, isNumber: true, isWide: true, cell: ({ priority }) => priority },
  {
    name: words.columns.shop,
    isWide: true,
    cell: ({ shopId }) => shops.find(({ id }) => id === shopId)?.name ?? shopId,
  },
  {
    name: words.columns.status,
    cell: ({ active }) => (
      <Status tone={active ? 'good' : 'over'}>{active ? own.on : own.off}</Status>
    ),
  },
];

const nothingTyped = {
  operation: 'payment' as graph.BankOperation,
  method: 'sbp' as graph.RouteMethod,
  connector: '',
  priority: '0',
};

const SetDialog = ({ merchantId, shops, close }: MerchantDialog & { readonly shops: Shops }) => {
  const set = useSend(graph.SetRoute);
  const { typed, held } = useTyped({ ...nothingTyped, shopId: shops[0]?.id ?? '' });
  const connector = typed.connector.trim();
  const priority = Number(typed.priority);
  return (
    <PolicyForm
      title={own.routeAdd}
      consequence={own.routeText}
      isReady={connector !== '' && Number.isInteger(priority)}
      close={close}
      act={() => set({ merchantId, active: true, ...typed, connector, priority }, own.done)}
    >
      <ShopPick label={words.columns.shop} shops={shops} {...held('shopId')} />
      <PickField
        label={own.operation}
        options={Object.entries(own.operations) as [graph.BankOperation, string][]}
        {...held('operation')}
      />
      <PickField
        label={words.columns.method}
        options={Object.entries(own.methods) as [graph.RouteMethod, string][]}
        {...held('method')}
      />
      <TextField label={own.connector} hint={own.connectorHint} {...held('connector')} />
      <TextField label={own.priority} hint={own.priorityHint} {...held('priority')} isNumber />
    </PolicyForm>
  );
};

export const RoutesPart = ({ merchantId }: { readonly merchantId: string }) => {
  const shops = useShops();
  const asked = usePage(graph.Routes, { merchantId });
  const { again } = asked;
  const remove = useSend(graph.RemoveRoute);
  const { button, dialog } = useActs(again);
  const column: Column<Row> = {
    name: words.columns.action,
    cell: ({ id }) =>
      button({
        permission: 'bankRouteRemove',
        name: sharedWords.remove,
        Form: PolicyForm,
        title: own.routeRemove,
        consequence: own.routeRemoveText,
        act: () => remove({ merchantId, id }, own.done),
      }),
  };
  return (
    <>
      <AddBar permission="bankRouteSet" name={own.routeAdd} again={again}>
        {(close) => <SetDialog merchantId={merchantId} shops={shops} close={close} />}
      </AddBar>
      <Listing
        name="routes"
        label={own.tabs.routes}
        asked={asked}
        columns={[...columnsOf(shops), column]}
        empty={<Empty title={own.routesEmpty} text={own.routesEmptyText} />}
      />
      {dialog}
    </>
  );
};
