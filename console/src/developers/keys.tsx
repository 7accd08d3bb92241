/** The keys of a shop: scopes, last use, creation and revocation. */
import { useState } from 'react';
import { KeyActs } from '../merchants/key-dialogs.tsx';
import { ActButton } from '../parts/act-button.tsx';
import { Empty } from '../parts/states.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { usePermission } from '../viewer.tsx';
import { useDeveloperWords, type DeveloperWords } from '../words/developers.ts';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { IssueDialog } from './issue-key.tsx';
import type { DeveloperShop } from './shop.ts';

type Key = DeveloperShop['apiKeys']['nodes'][number];

const scopeText = (scopes: readonly string[], { scopeNames, always, everything }: DeveloperWords) =>
  Object.keys(scopeNames).every((scope) => scopes.includes(scope))
    ? everything
    : [always, ...scopes.map((scope) => scopeNames[scope] ?? scope)].join(', ');

const columnsOf = (
  words: Words,
  own: DeveloperWords,
  act: (key: Key) => React.ReactNode,
): readonly Column<Key>[] => [
  {
    name: own.key,
    cell: ({ prefix, name }) => (
      <span className="stack">
        {name}
        <code>{prefix}…</code>
      </span>
    ),
  },
  { name: words.mode.label, cell: ({ mode }) => words.mode[mode] },
  {
    name: own.scopes,
    isWide: true,
    cell: ({ scopes }) => (
      <span className="cut" title={scopeText(scopes, own)}>
        {scopeText(scopes, own)}
      </span>
    ),
  },
  {
    name: own.used,
    isNamed: true,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? own.never : <Moment at={lastUsedAt} />),
  },
  {
    name: own.expires,
    isNamed: true,
    cell: ({ expiresAt }) => (expiresAt === null ? own.endless : <Moment at={expiresAt} />),
  },
  { name: own.owner, isWide: true, cell: ({ owner }) => owner },
  { name: words.columns.created, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: words.columns.action, cell: act },
];

/** The part of the screen. */
export const KeysPart = ({
  shop,
  isLive,
  again,
}: {
  readonly shop: DeveloperShop;
  readonly isLive: boolean;
  readonly again: () => void;
}) => {
  const words = useWords();
  const own = useDeveloperWords();
  const issue = usePermission('apiKeyIssue');
  const [isIssuing, setIssuing] = useState(false);
  const close = (): void => {
    setIssuing(false);
    again();
  };
  const keys = shop.apiKeys.nodes;
  const act = (key: Key) => (
    <KeyActs apiKey={{ ...key, merchantId: shop.merchantId }} again={again} />
  );
  return (
    <>
      <div className="acts">
        <ActButton permission={issue} isMain onPress={() => setIssuing(true)}>
          {own.issue}
        </ActButton>
      </div>
      {keys.length === 0 ? (
        <Empty title={own.noKeys}>
          <p>{own.noKeysText}</p>
        </Empty>
      ) : (
        <Table
          label={own.tabs.keys}
          columns={columnsOf(words, own, act)}
          rows={keys}
          keyOf={({ id }) => id}
        />
      )}
      {isIssuing && <IssueDialog shop={shop} isLive={isLive} close={close} />}
    </>
  );
};
