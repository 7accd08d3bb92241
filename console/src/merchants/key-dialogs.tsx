/** What is done with a key of a shop: approved, replaced, revoked. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { ApproveKey, RevokeKey, type ApiKeyStatus } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { Status } from '../parts/status.tsx';
import { RotateKeyDialog } from '../developers/issue-key.tsx';
import { usePermission } from '../viewer.tsx';
import { useWords } from '../words/words.ts';

/** The fields of a key that decisions need. */
interface KeyOf {
  readonly id: string;
  readonly merchantId: string;
  readonly prefix: string;
  readonly status: ApiKeyStatus;
  readonly isMine: boolean;
}

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
  const rotate = usePermission('apiKeyRotate');
  const [open, setOpen] = useState<'approve' | 'rotate' | 'revoke' | null>(null);
  const close = (): void => {
    setOpen(null);
    again();
  };
  const { status } = apiKey;
  if ((status === 'revoked' || status === 'expired') && open === null)
    return <Status tone="over">{merchants[status]}</Status>;
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
      {status === 'active' && (
        <ActButton permission={rotate} onPress={() => setOpen('rotate')}>
          {merchants.replace}
        </ActButton>
      )}
      <ActButton permission={revoke} onPress={() => setOpen('revoke')}>
        {merchants.revoke}
      </ActButton>
      {open === 'approve' && <ApproveDialog apiKey={apiKey} close={close} />}
      {open === 'rotate' && <RotateKeyDialog apiKey={apiKey} close={close} />}
      {open === 'revoke' && <RevokeDialog apiKey={apiKey} close={close} />}
    </div>
  );
};
