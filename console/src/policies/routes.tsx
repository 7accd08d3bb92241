/** Which acquirer serves which operation of a merchant's shops in live mode. */
import * as graph from '../../../schema/generated/console.ts';
import { send } from '../parts/outcome.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { useShops } from '../parts/filters.tsx';
import { activeColumn } from './accounts.tsx';
import { policyWords as own } from '../words/policies.ts';
import { sharedWords } from '../words/shared.ts';
import { optionsOf } from '../words/table.ts';
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
  activeColumn(),
];

export const RoutesPart = ({ merchantId }: { readonly merchantId: string }) => {
  const shops = useShops();
  const asked = usePage(graph.Routes, { merchantId });
  return (
    <Listing
      name="routes"
      label={own.tabs.routes}
      asked={asked}
      columns={() => columnsOf(shops)}
      add={{
        permission: 'bankRouteSet',
        barred: shops.length === 0 ? words.acts.running : undefined,
        title: own.routeAdd,
        isAudited: true,
        consequence: own.routeText,
        fields: {
          shopId: { label: words.columns.shop, options: shops.map(({ id, name }) => [id, name]) },
          operation: { label: own.operation, options: optionsOf(own.operations) },
          method: { label: words.columns.method, options: optionsOf(own.methods) },
          connector: { label: own.connector, hint: own.connectorHint },
          priority: {
            label: own.priority,
            hint: own.priorityHint,
            initial: '0',
            isNumber: true,
            isOptional: true,
          },
        },
        fits: ({ priority }) => Number.isInteger(Number(priority)),
        act: (typed) =>
          send(
            graph.SetRoute,
            { merchantId, active: true, ...typed, priority: Number(typed.priority) },
            own.done,
          ),
      }}
      actOf={({ id }) => ({
        permission: 'bankRouteRemove',
        name: sharedWords.remove,
        isAudited: true,
        title: own.routeRemove,
        consequence: own.routeRemoveText,
        act: () => send(graph.RemoveRoute, { merchantId, id }, own.done),
      })}
      empty={<Empty title={own.routesEmpty} text={own.routesEmptyText} />}
    />
  );
};
