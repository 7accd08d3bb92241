/** Switches a merchant's live mode, for platform operators. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { DisableLive, EnableLive } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { ended, outcomeOf } from '../parts/outcome.ts';
import { usePermission } from '../viewer.tsx';
import { usePolicyWords } from '../words/policies.ts';

interface OfMerchant {
  readonly merchant: {
    readonly id: string;
    readonly name: string;
    readonly liveEnabled: boolean;
  };
}

const LiveDialog = ({
  merchant: { id: merchantId, name, liveEnabled },
  close,
}: OfMerchant & { readonly close: () => void }) => {
  const own = usePolicyWords();
  const [, enable] = useMutation(EnableLive);
  const [, disable] = useMutation(DisableLive);
  return (
    <ActForm
      title={liveEnabled ? own.liveOff : own.liveOn}
      consequence={liveEnabled ? own.liveOffText(name) : own.liveOnText(name)}
      close={close}
      act={async () =>
        liveEnabled
          ? outcomeOf(await disable({ merchantId }), (data) =>
              ended(data.merchantLiveDisable, own.done),
            )
          : outcomeOf(await enable({ merchantId }), (data) =>
              ended(data.merchantLiveEnable, own.done),
            )
      }
    />
  );
};

/** The button, and its dialog. */
export const LiveSwitch = ({ merchant, again }: OfMerchant & { readonly again: () => void }) => {
  const own = usePolicyWords();
  const { liveEnabled } = merchant;
  const permission = usePermission(liveEnabled ? 'merchantLiveDisable' : 'merchantLiveEnable');
  // The dialog keeps the state from when it was opened.
  const [opened, setOpened] = useState<typeof merchant | null>(null);
  return (
    <>
      <ActButton permission={permission} onPress={() => setOpened(merchant)}>
        {liveEnabled ? own.liveOff : own.liveOn}
      </ActButton>
      {opened && (
        <LiveDialog
          merchant={opened}
          close={() => {
            setOpened(null);
            again();
          }}
        />
      )}
    </>
  );
};
