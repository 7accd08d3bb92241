/** The keys of a shop: scopes, last use, creation, replacement and revocation. */
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { KeyActs, IssueDialog, KeyName, scopeText } from './key-dialogs.tsx';
import { NoRows, ToggleChips } from '../parts/filters.tsx';
import { AddBar } from '../parts/act-form.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { createdColumn, type Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { developerWords as own } from '../words/developers.ts';
import { keysOf, optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

const columnsOf = (): readonly Column<graph.KeyRowFragment>[] => [
  {
    id: 'key',
    name: own.key,
    cell: (key) => <KeyName {...key} />,
  },
  { id: 'mode', name: words.mode.label, cell: ({ mode }) => words.mode[mode] },
  {
    id: 'scopes',
    name: own.scopes,
    isWide: true,
    cell: ({ scopes }) => (
      <span className="cut" title={scopeText(scopes)}>
        {scopeText(scopes)}
      </span>
    ),
  },
  {
    id: 'used',
    name: own.used,
    isNamed: true,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? own.never : <Moment at={lastUsedAt} />),
  },
  {
    id: 'expires',
    name: own.expires,
    isNamed: true,
    cell: ({ expiresAt }) => (expiresAt === null ? own.endless : <Moment at={expiresAt} />),
  },
  { id: 'owner', name: own.owner, isWide: true, cell: ({ owner }) => owner },
  { ...createdColumn(words.columns.created), isWide: true },
  { id: 'acts', name: words.columns.action, cell: (key) => <KeyActs apiKey={key} /> },
];

const modes = ['test', 'live'] as const;

type OfMerchantRow = NonNullable<graph.DeveloperShopsQuery['merchant']>;
export type DeveloperShop = OfMerchantRow['shops'][number];

export const KeysPart = ({
  shop,
  isLive,
}: {
  readonly shop: DeveloperShop;
  readonly isLive: boolean;
}) => {
  const { search } = useAddress();
  const [status = null] = listOf(search.status, keysOf(own.keyStatuses));
  const [mode = null] = listOf(search.type, modes);
  const narrowing = { merchantId: shop.merchantId, shopId: shop.id, status, mode };
  const asked = usePage(graph.ApiKeys, narrowing, {});
  return (
    <>
      <AddBar
        permission="apiKeyIssue"
        title={words.merchants.issue}
        dialog={<IssueDialog shop={shop} isLive={isLive} />}
      />
      <div className="filter-row">
        <ToggleChips
          label={own.keyStatus}
          options={optionsOf(own.keyStatuses).map(([one, name]) => ['status', one, name])}
        />
        <ToggleChips
          label={words.mode.label}
          options={modes.map((one) => ['type', one, words.mode[one]])}
        />
      </div>
      <Listing
        name="keys"
        label={own.tabs.keys}
        asked={asked}
        columns={columnsOf}
        empty={
          <NoRows
            of={{ empty: own.noKeys, emptyText: own.noKeysText }}
            isNarrow={status !== null || mode !== null}
          />
        }
      />
    </>
  );
};
