/** The choice of an endpoint's signature scheme. */
import type { WebhookSignature } from '../../../schema/generated/console.ts';
import { PickField } from '../parts/fields.tsx';
import { useSettingsWords } from '../words/merchant-settings.ts';

const schemes = ['v2', 'standard', 'stripe', 'legacy'] as const satisfies WebhookSignature[];

/** The field, with the consequences of the choice. */
export const SchemeField = ({
  value,
  set,
}: {
  readonly value: WebhookSignature;
  readonly set: (value: WebhookSignature) => void;
}) => {
  const own = useSettingsWords();
  return (
    <>
      <PickField
        label={own.signature}
        value={value}
        set={set}
        options={schemes.map((scheme) => [scheme, own.schemes[scheme]] as const)}
      />
      <p className="quiet">{value === 'legacy' ? own.schemeLegacy : own.schemeHint}</p>
    </>
  );
};
