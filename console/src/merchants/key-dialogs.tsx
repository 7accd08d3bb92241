/** Keys and endpoints of a shop: what is secret is shown once. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  AddEndpoint,
  IssueKey,
  RevokeKey,
  type WebhookSignature,
} from '../../../schema/generated/console.ts';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, type Outcome, refusedBy } from '../parts/outcome.ts';
import { CopyBlock } from '../parts/texts.tsx';
import { useWords } from '../words/words.ts';
import { SchemeField } from './scheme-field.tsx';

interface OfShop {
  readonly id: string;
  readonly merchantId: string;
}

/** A key as far as its revocation needs it. */
export interface KeyOf extends OfShop {
  readonly prefix: string;
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

/** One more test key. */
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
              ? keep(result.secret, merchants.secretOnce)
              : refusedBy(result),
        )
      }
    />
  );
};

/** One more address for webhooks. */
export const EndpointDialog = ({
  shop,
  close,
}: {
  readonly shop: OfShop;
  readonly close: () => void;
}) => {
  const { merchants } = useWords();
  const [url, setUrl] = useState('https://');
  const [signature, setSignature] = useState<WebhookSignature>('v2');
  const [secret, keep] = useSecret();
  const [, add] = useMutation(AddEndpoint);
  return (
    <ActForm
      title={merchants.addEndpoint}
      consequence={merchants.endpointSecret}
      isReady={URL.canParse(url)}
      close={close}
      isRepeated
      result={secretOf(secret)}
      act={async () =>
        outcomeOf(
          await add({ merchantId: shop.merchantId, shopId: shop.id, url, signature }),
          ({ webhookEndpointCreate: result }) =>
            result.__typename === 'WebhookEndpointCreated'
              ? keep(
                  signature === 'standard' ? result.standardSecret : result.secret,
                  merchants.endpointSecret,
                )
              : refusedBy(result),
        )
      }
    >
      <label className="field">
        {merchants.endpointUrl}
        <input type="url" value={url} onChange={(event) => setUrl(event.target.value)} />
      </label>
      <SchemeField value={signature} set={setSignature} />
    </ActForm>
  );
};

/** Takes a key back. */
export const RevokeDialog = ({
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
