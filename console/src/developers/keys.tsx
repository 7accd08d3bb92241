/** The keys of a shop: scopes, last use, creation and revocation. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { IssueScopedKey } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { KeyActs } from '../merchants/key-dialogs.tsx';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty } from '../parts/states.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { CopyBlock, Moment } from '../parts/texts.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { useDeveloperWords, type DeveloperWords } from '../words/developers.ts';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
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
  { name: own.key, cell: ({ prefix }) => <code>{prefix}…</code> },
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
  { name: words.columns.created, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: words.columns.action, cell: act },
];

const paysOut = (scope: string): boolean => scope.startsWith('api:payouts:');

const Scopes = ({
  chosen,
  toggle,
}: {
  readonly chosen: readonly string[];
  readonly toggle: (scope: string) => void;
}) => {
  const own = useDeveloperWords();
  return (
    <fieldset className="options">
      <legend>{own.scopes}</legend>
      <label>
        <input type="checkbox" checked disabled /> {own.always}
      </label>
      {Object.entries(own.scopeNames).map(([scope, name]) => (
        <label key={scope}>
          <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
          <span>
            {name} <code className="quiet">{scope}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
};

const IssueDialog = ({
  shop,
  isLive,
  close,
}: {
  readonly shop: DeveloperShop;
  readonly isLive: boolean;
  readonly close: () => void;
}) => {
  const words = useWords();
  const own = useDeveloperWords();
  const known = Object.keys(own.scopeNames);
  const { mode: here } = useAddress();
  const [mode, setMode] = useState(here);
  const isOfMerchant = useViewer().merchantId !== null;
  // Scopes that need no approval.
  const usual = isOfMerchant ? known.filter((scope) => !paysOut(scope)) : known;
  const [scopes, setScopes] = useState<readonly string[]>(usual);
  const [secret, setSecret] = useState('');
  const [, issue] = useMutation(IssueScopedKey);
  const toggle = (scope: string): void =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]);
  return (
    <ActForm
      title={own.issue}
      consequence={own.issueText}
      close={close}
      isRepeated
      result={secret === '' ? null : <CopyBlock text={secret} />}
      act={async () =>
        outcomeOf(
          await issue({ merchantId: shop.merchantId, shopId: shop.id, mode, scopes: [...scopes] }),
          ({ apiKeyIssue: result }) => {
            if (result.__typename === 'Refused') return refusedBy(result);
            setSecret(result.secret);
            const isPending = result.status === 'pending';
            return { done: isPending ? words.merchants.keyWaits : own.issued };
          },
        )
      }
    >
      <PickField
        label={words.mode.label}
        value={mode}
        set={setMode}
        options={[
          ['test', words.mode.test],
          ['live', words.mode.live],
        ]}
      />
      {mode === 'live' && !isLive && <p className="note">{own.liveOff}</p>}
      <Scopes chosen={scopes} toggle={toggle} />
      {isOfMerchant && <p className="note">{own.needsSecond}</p>}
    </ActForm>
  );
};

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
