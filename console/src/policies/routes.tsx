/** Which acquirer serves which operation of a merchant's shops in live mode. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import {
  AddBar,
  type MerchantDialog,
  PolicyForm,
  useOpened,
  useRowAct,
} from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import { PickField, ShopPick, TextField } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePolicyWords, type PolicyWords } from '../words/policies.ts';
import { useSharedWords } from '../words/shared.ts';
import { useWords, type Words } from '../words/words.ts';

type Row = graph.RoutesQuery['bankRoutes']['nodes'][number];
type Shops = readonly { readonly id: string; readonly name: string }[];

const columnsOf = (words: Words, own: PolicyWords, shops: Shops): readonly Column<Row>[] => [
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

const OperationFields = ({
  operation,
  setOperation,
  method,
  setMethod,
}: {
  readonly operation: graph.BankOperation;
  readonly setOperation: (operation: graph.BankOperation) => void;
  readonly method: graph.RouteMethod;
  readonly setMethod: (method: graph.RouteMethod) => void;
}) => {
  const words = useWords();
  const own = usePolicyWords();
  return (
    <>
      <PickField
        label={own.operation}
        value={operation}
        set={setOperation}
        options={Object.entries(own.operations) as [graph.BankOperation, string][]}
      />
      <PickField
        label={words.columns.method}
        value={method}
        set={setMethod}
        options={Object.entries(own.methods) as [graph.RouteMethod, string][]}
      />
    </>
  );
};

const SetDialog = ({ merchantId, shops, close }: MerchantDialog & { readonly shops: Shops }) => {
  const words = useWords();
  const own = usePolicyWords();
  const set = useSend(graph.SetRoute);
  const [shopId, setShop] = useState(shops[0]?.id ?? '');
  const [operation, setOperation] = useState<graph.BankOperation>('payment');
  const [method, setMethod] = useState<graph.RouteMethod>('sbp');
  const [connector, setConnector] = useState('');
  const [priority, setPriority] = useState('0');
  const route = { operation, method, connector: connector.trim(), priority: Number(priority) };
  return (
    <PolicyForm
      title={own.routeAdd}
      consequence={own.routeText}
      isReady={route.connector !== '' && Number.isInteger(route.priority)}
      close={close}
      act={() => set({ merchantId, shopId, active: true, ...route }, own.done)}
    >
      <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={setShop} />
      <OperationFields {...{ operation, setOperation, method, setMethod }} />
      <TextField
        label={own.connector}
        value={connector}
        set={setConnector}
        hint={own.connectorHint}
      />
      <TextField
        label={own.priority}
        value={priority}
        set={setPriority}
        hint={own.priorityHint}
        isNumber
      />
    </PolicyForm>
  );
};

export const RoutesPart = ({ merchantId }: { readonly merchantId: string }) => {
  const words = useWords();
  const own = usePolicyWords();
  const { remove: name } = useSharedWords();
  const { data: owner } = useAsk(graph.PolicyShops, { merchantId });
  const asked = usePage(graph.Routes, { merchantId });
  const { again } = asked;
  const { opened, open, close } = useOpened(again);
  const remove = useSend(graph.RemoveRoute);
  const { column, dialog } = useRowAct<Row>(again, {
    permission: 'bankRouteRemove',
    name,
    Form: PolicyForm,
    title: own.routeRemove,
    consequence: () => own.routeRemoveText,
    act: ({ id }) => remove({ merchantId, id }, own.done),
  });
  const shops = owner?.merchant?.shops ?? [];
  return (
    <>
      <AddBar permission="bankRouteSet" onPress={() => open(true)}>
        {own.routeAdd}
      </AddBar>
      <Listing
        name="routes"
        label={own.tabs.routes}
        asked={asked}
        columns={[...columnsOf(words, own, shops), column]}
        empty={<Empty title={own.routesEmpty} text={own.routesEmptyText} />}
      />
      {opened && <SetDialog merchantId={merchantId} shops={shops} close={close} />}
      {dialog}
    </>
  );
};
