/** Dialogs for keys of a shop; secrets are shown once. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  ApproveKey,
  IssueKey,
  RevokeKey,
  type ApiKeyStatus,
} from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, type Outcome, refusedBy } from '../parts/outcome.ts';
import { Status } from '../parts/status.tsx';
import { CopyBlock } from '../parts/texts.tsx';
import { usePermission } from '../viewer.tsx';
import { useWords } from '../words/words.ts';

interface OfShop {
  readonly id: string;
  readonly merchantId: string;
}

/** The fields of a key that decisions need. */
interface KeyOf extends OfShop {
  readonly prefix: string;
  readonly status: ApiKeyStatus;
  readonly isMine: boolean;
}

/** Shows the secret under the form once it is there. */
const useSecret = (): readonly [
  secret: string,
  keep: (secret: string, words: string) => Outcome,
] => {
  const [secret, setSecret] = useState('');
  return [
    secret,
    (made, words) => {
      setSecret(made);
      return { done: words };
    },
  ];
};

const secretOf = (secret: string) => (secret === '' ? null : <CopyBlock text={secret} />);

/** Creates a test key. */
export const IssueDialog = ({
  shop,
  close,
}: {
  readonly shop: OfShop;
  readonly close: () => void;
}) => {
  const { merchants } = useWords();
  const [secret, keep] = useSecret();
  const [, issue] = useMutation(IssueKey);
  return (
    <ActForm
      title={merchants.issue}
      consequence={merchants.secretOnce}
      close={close}
      isRepeated
      result={secretOf(secret)}
      act={async () =>
        outcomeOf(
          await issue({ merchantId: shop.merchantId, shopId: shop.id, mode: 'test' }),
          ({ apiKeyIssue: result }) =>
            result.__typename === 'ApiKeyIssued'
              ? keep(
                  result.secret,
                  result.status === 'pending' ? merchants.keyWaits : merchants.secretOnce,
                )
              : refusedBy(result),
        )
      }
    />
  );
};

/** Approves a key that another person requested. */
const ApproveDialog = ({
  apiKey,
  close,
}: {
  readonly apiKey: KeyOf;
  readonly close: () => void;
}) => {
  const { merchants } = useWords();
  const [, approve] = useMutation(ApproveKey);
  const { merchantId, id, prefix } = apiKey;
  return (
    <ActForm
      title={merchants.approve}
      consequence={merchants.approveText(prefix)}
      close={close}
      act={async () =>
        outcomeOf(await approve({ merchantId, apiKeyId: id }), ({ apiKeyApprove: result }) =>
          result.__typename === 'ApiKey' ? { done: merchants.approved } : refusedBy(result),
        )
      }
    />
  );
};

/** Revokes a key. */
const RevokeDialog = ({
  apiKey,
  close,
}: {
  readonly apiKey: KeyOf;
  readonly close: () => void;
}) => {
  const { merchants } = useWords();
  const [, revoke] = useMutation(RevokeKey);
  const { merchantId, id, prefix } = apiKey;
  return (
    <ActForm
      title={merchants.revoke}
      consequence={merchants.revokeText(prefix)}
      close={close}
      act={async () =>
        outcomeOf(await revoke({ merchantId, apiKeyId: id }), ({ apiKeyRevoke: result }) =>
          result.__typename === 'ApiKey' ? { done: merchants.revoked } : refusedBy(result),
        )
      }
    />
  );
};

/** A key's actions, and whether it works. */
export const KeyActs = ({
  apiKey,
  again,
}: {
  readonly apiKey: KeyOf;
  readonly again: () => void;
}) => {
  const { merchants } = useWords();
  const approve = usePermission('apiKeyApprove');
  const revoke = usePermission('apiKeyRevoke');
  const [open, setOpen] = useState<'approve' | 'revoke' | null>(null);
  const close = (): void => {
    setOpen(null);
    again();
  };
  if (apiKey.status === 'revoked' && open === null)
    return <Status tone="over">{merchants.revoked}</Status>;
  return (
    <div className="acts">
      {apiKey.status === 'pending' && (
        <>
          <Status tone="waiting">{merchants.waits}</Status>
          <ActButton
            permission={approve}
            {...(apiKey.isMine ? { barred: merchants.ownKey } : {})}
            isMain
            onPress={() => setOpen('approve')}
          >
            {merchants.approve}
          </ActButton>
        </>
      )}
      <ActButton permission={revoke} onPress={() => setOpen('revoke')}>
        {merchants.revoke}
      </ActButton>
      {open === 'approve' && <ApproveDialog apiKey={apiKey} close={close} />}
      {open === 'revoke' && <RevokeDialog apiKey={apiKey} close={close} />}
    </div>
  );
};
