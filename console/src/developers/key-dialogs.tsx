/** The dialogs of keys: issued, approved, replaced, revoked. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { wholeUnits } from '../format.ts';
import { ActForm, actButton } from '../parts/act-form.tsx';
import { CheckList, PickField, TextField, useTyped, type Held } from '../parts/fields.tsx';
import { send } from '../parts/outcome.tsx';
import { Facts, Moment, Status } from '../parts/texts.tsx';
import { useViewer } from '../viewer.tsx';
import { developerWords as own } from '../words/developers.ts';
import { words } from '../words/words.ts';

export const scopeText = (scopes: readonly string[]): string =>
  Object.keys(own.scopeNames).every((scope) => scopes.includes(scope))
    ? own.everything
    : [own.always, ...scopes.map((scope) => own.scopeNames[scope] ?? scope)].join(', ');

/** A key by its name, and by what begins it. */
export const KeyName = ({ name, prefix }: Readonly<Record<'name' | 'prefix', string>>) => (
  <span className="stack">
    {name}
    <code>{prefix}…</code>
  </span>
);

const paysOut = (scope: string): boolean => scope.startsWith('api:payouts:');

const Scopes = (of: Held<readonly string[]>) => (
  <CheckList
    label={own.scopes}
    {...of}
    options={Object.entries(own.scopeNames).map(([scope, name]) => [
      scope,
      <span key={scope}>
        {name} <code className="quiet">{scope}</code>
      </span>,
    ])}
  >
    <label>
      <input type="checkbox" checked disabled /> {own.always}
    </label>
  </CheckList>
);

const day_ms = 86_400_000;
const lives = ['0', '30', '90', '365'] as const;
type Life = (typeof lives)[number];

/** When a key that lives for so many days expires; null: never. */
const expiryOf = (life: Life): string | null =>
  life === '0' ? null : new Date(Date.now() + Number(life) * day_ms).toISOString();

const lifeOption = (life: Life) =>
  [life, life === '0' ? own.endless : own.after(Number(life))] as const;

/** What has been issued: a key that is shown once, or that waits for another person. */
const issuedText = ({ status, secret }: Readonly<Record<'status' | 'secret', string>>) => ({
  done: status === 'pending' ? words.merchants.keyWaits : own.issued,
  copy: secret,
});

const nothingTyped = { name: '', life: '0' as Life, scopes: [] as readonly string[] };

/** Issues a key of a shop, which is shown once; it may no more than what is chosen. */
export const IssueDialog = ({
  shop,
  isLive,
}: {
  readonly shop: { readonly id: string; readonly merchantId: string };
  readonly isLive: boolean;
}) => {
  const { mode } = useAddress();
  const { typed, held } = useTyped({ ...nothingTyped, mode });
  const isOfMerchant = useViewer().merchantId !== null;
  const name = typed.name.trim();
  return (
    <ActForm
      title={words.merchants.issue}
      consequence={own.issueText}
      isReady={name !== ''}
      isRepeated
      act={() =>
        send(
          graph.IssueScopedKey,
          {
            merchantId: shop.merchantId,
            shopId: shop.id,
            mode: typed.mode,
            scopes: [...typed.scopes],
            name,
            expiresAt: expiryOf(typed.life),
          },
          issuedText,
        )
      }
    >
      <TextField label={words.columns.name} {...held('name')} hint={own.nameHint} />
      <PickField
        label={words.mode.label}
        {...held('mode')}
        options={[
          ['test', words.mode.test],
          ['live', words.mode.live],
        ]}
      />
      {typed.mode === 'live' && !isLive && <p className="note">{own.liveOff}</p>}
      <PickField label={own.expires} {...held('life')} options={lives.map(lifeOption)} />
      <Scopes {...held('scopes')} />
      {isOfMerchant && typed.scopes.some(paysOut) && <p className="note">{own.needsSecond}</p>}
    </ActForm>
  );
};

const overlaps = ['0', '1', '24', '72', '168'] as const;
const overlapOption = (hours: string) =>
  [hours, hours === '0' ? own.overlapNone : wholeUnits(Number(hours), 'hour')] as const;

/** What a person approves who approves a key. */
const KeyFacts = ({
  apiKey: { name, scopes, owner, expiresAt },
}: {
  readonly apiKey: graph.KeyRowFragment;
}) => (
  <Facts
    facts={[
      [words.columns.name, name],
      [own.owner, owner],
      [own.scopes, scopeText(scopes)],
      [own.expires, expiresAt === null ? own.endless : <Moment at={expiresAt} />],
    ]}
  />
);

export const KeyActs = ({ apiKey }: { readonly apiKey: graph.KeyRowFragment }) => {
  const { merchantId, id: apiKeyId, status, prefix, isMine } = apiKey;
  const { merchants } = words;
  if (status === 'revoked' || status === 'expired')
    return <Status tone="over">{merchants[status]}</Status>;
  return (
    <div className="acts">
      {status === 'pending' && <Status tone="waiting">{merchants.waits}</Status>}
      {status === 'pending' &&
        actButton({
          permission: 'apiKeyApprove',
          barred: isMine ? merchants.ownKey : undefined,
          isMain: true,
          title: merchants.approve,
          consequence: merchants.approveText(prefix),
          children: <KeyFacts apiKey={apiKey} />,
          act: () => send(graph.ApproveKey, { merchantId, apiKeyId }, merchants.approved),
        })}
      {status === 'active' &&
        actButton({
          permission: 'apiKeyRotate',
          title: merchants.replace,
          consequence: own.replaceText(prefix),
          isRepeated: true,
          fields: {
            overlap: { label: own.overlap, initial: '24', options: overlaps.map(overlapOption) },
            life: { label: own.expires, options: lives.map(lifeOption) },
          },
          act: ({ overlap, life }) =>
            send(
              graph.RotateKey,
              {
                merchantId,
                apiKeyId,
                overlapHours: Number(overlap),
                expiresAt: expiryOf(life),
              },
              issuedText,
            ),
        })}
      {actButton({
        permission: 'apiKeyRevoke',
        title: merchants.revoke,
        consequence: merchants.revokeText(prefix),
        act: () => send(graph.RevokeKey, { merchantId, apiKeyId }, merchants.revoked),
      })}
    </div>
  );
};
