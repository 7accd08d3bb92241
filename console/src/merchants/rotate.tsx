/** The dialog of a new webhook secret: it is shown once. */
import { secretOverlap_max_h } from '../../../schema/limits.ts';
import { useState } from 'react';
import { outcomeOf, refusedBy, type Refusal } from '../parts/outcome.ts';
import { TextField } from '../parts/fields.tsx';
import { CopyBlock } from '../parts/texts.tsx';
import { PolicyForm } from '../policies/act.tsx';
import { useSettingsWords } from '../words/merchant-settings.ts';

type Rotated =
  | {
      readonly __typename: 'WebhookSecretRotated';
      readonly secret: string;
      readonly standardSecret?: string | null | undefined;
    }
  | ({ readonly __typename: 'Refused' } & Refusal);

/** The dialog; `of` names what the secret signs, `rotate` requests the new one. */
export const RotateDialog = ({
  of,
  isStandard = false,
  rotate,
  close,
}: {
  readonly of: string;
  /** Whether it is shown in the form of Standard Webhooks. */
  readonly isStandard?: boolean;
  readonly rotate: (
    overlapHours: number,
  ) => Promise<{ result: Rotated | undefined; error: Error | undefined }>;
  readonly close: () => void;
}) => {
  const own = useSettingsWords();
  const [text, setText] = useState('0');
  const [secret, setSecret] = useState('');
  const hours = Number(text.trim() || 'none');
  return (
    <PolicyForm
      title={own.rotate}
      consequence={own.rotateText(of)}
      isReady={Number.isInteger(hours) && hours >= 0 && hours <= secretOverlap_max_h}
      close={close}
      isRepeated
      result={secret === '' ? null : <CopyBlock text={secret} />}
      act={async () => {
        const { result: data, error } = await rotate(hours);
        return outcomeOf({ data, error }, (result) => {
          if (result.__typename === 'Refused') return refusedBy(result);
          setSecret((isStandard ? result.standardSecret : null) ?? result.secret);
          return { done: own.rotated };
        });
      }}
    >
      <TextField label={own.overlap} value={text} set={setText} hint={own.overlapHint} isNumber />
    </PolicyForm>
  );
};
