/** A shop's settings: its name, its receipts, its webhook secret. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  RenameShop,
  RequireReceipts,
  RotateShopSecret,
} from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ended, outcomeOf } from '../parts/outcome.ts';
import { TextField } from '../parts/fields.tsx';
import { PolicyForm } from '../policies/act.tsx';
import { usePermission } from '../viewer.tsx';
import { useSettingsWords } from '../words/merchant-settings.ts';
import { RotateDialog } from './rotate.tsx';

interface OfShop {
  readonly shop: {
    readonly id: string;
    readonly merchantId: string;
    readonly name: string;
    readonly receiptsRequired: boolean;
  };
}
type DialogProps = OfShop & { readonly close: () => void };

const RenameDialog = ({ shop: { id: shopId, merchantId, name }, close }: DialogProps) => {
  const own = useSettingsWords();
  const [text, setText] = useState(name);
  const [, save] = useMutation(RenameShop);
  return (
    <PolicyForm
      title={own.renameShop}
      consequence={own.renameText}
      isReady={text.trim() !== ''}
      close={close}
      act={async () =>
        outcomeOf(await save({ merchantId, shopId, name: text.trim() }), (data) =>
          ended(data.shopRename, own.done),
        )
      }
    >
      <TextField label={own.name} value={text} set={setText} hint={own.nameHint} />
    </PolicyForm>
  );
};

const ReceiptsDialog = ({ shop, close }: DialogProps) => {
  const own = useSettingsWords();
  const [, save] = useMutation(RequireReceipts);
  const { id: shopId, merchantId, receiptsRequired } = shop;
  return (
    <PolicyForm
      title={receiptsRequired ? own.receiptsLift : own.receiptsRequire}
      consequence={receiptsRequired ? own.receiptsLiftText : own.receiptsRequireText}
      close={close}
      act={async () =>
        outcomeOf(await save({ merchantId, shopId, required: !receiptsRequired }), (data) =>
          ended(data.shopReceiptsRequire, own.done),
        )
      }
    />
  );
};

const SecretDialog = ({ shop: { id: shopId, merchantId }, close }: DialogProps) => {
  const own = useSettingsWords();
  const [, rotate] = useMutation(RotateShopSecret);
  return (
    <RotateDialog
      of={own.rotateShop}
      close={close}
      rotate={async (overlapHours) => {
        const { data, error } = await rotate({ merchantId, shopId, overlapHours });
        return { result: data?.shopWebhookSecretRotate, error };
      }}
    />
  );
};

const dialogs = { rename: RenameDialog, receipts: ReceiptsDialog, secret: SecretDialog } as const;

/** The lines of the shop's card. */
export const ShopSettings = ({ shop, again }: OfShop & { readonly again: () => void }) => {
  const own = useSettingsWords();
  const rename = usePermission('shopRename');
  const receipts = usePermission('shopReceiptsRequire');
  const secret = usePermission('shopWebhookSecretRotate');
  const [opened, setOpened] = useState<(OfShop & { readonly act: keyof typeof dialogs }) | null>(
    null,
  );
  const Dialog = opened && dialogs[opened.act];
  return (
    <>
      <h3>{own.receipts}</h3>
      <p>{shop.receiptsRequired ? own.receiptsOn : own.receiptsOff}</p>
      <div className="acts">
        <ActButton permission={receipts} onPress={() => setOpened({ act: 'receipts', shop })}>
          {shop.receiptsRequired ? own.receiptsLift : own.receiptsRequire}
        </ActButton>
      </div>
      <h3>{own.secret}</h3>
      <p>{own.secretText}</p>
      <div className="acts">
        <ActButton permission={secret} onPress={() => setOpened({ act: 'secret', shop })}>
          {own.rotate}
        </ActButton>
        <ActButton permission={rename} onPress={() => setOpened({ act: 'rename', shop })}>
          {own.renameShop}
        </ActButton>
      </div>
      {opened && Dialog && (
        <Dialog
          shop={opened.shop}
          close={() => {
            setOpened(null);
            again();
          }}
        />
      )}
    </>
  );
};
