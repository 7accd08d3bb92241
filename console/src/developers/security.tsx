/** A shop's allow-list, and whether its requests must be signed. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import {
  ActButton,
  ActForm,
  DialogAct,
  useOpened,
  type Again,
  type Closable,
} from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import { usePermission } from '../viewer.tsx';
import { developerWords as own } from '../words/developers.ts';
import type { DeveloperShop } from './keys.tsx';

type DialogProps = Closable & { readonly shop: DeveloperShop };

const AllowListDialog = ({
  shop,
  entries,
  close,
}: DialogProps & { readonly entries: readonly string[] }) => {
  const save = useSend(graph.SetAllowList);
  return (
    <ActForm
      title={own.addressesSave}
      consequence={own.addressesConsequence(entries.length)}
      close={close}
      act={() =>
        save(
          { merchantId: shop.merchantId, shopId: shop.id, entries: [...entries] },
          own.addressesDone,
        )
      }
    >
      {entries.length > 0 && <pre className="record">{entries.join('\n')}</pre>}
    </ActForm>
  );
};

type OfShop = Again & { readonly shop: DeveloperShop };

const AllowList = ({ shop, again }: OfShop) => {
  const { granted } = usePermission('shopAllowListSet');
  const [text, setText] = useState(() => shop.allowList.join('\n'));
  const entries = text.split(/[\s,]+/).filter(Boolean);
  return (
    <section className="card">
      <h2>{own.addresses}</h2>
      <label className="field whole">
        <span className="quiet">{own.addressesText}</span>
        <textarea
          rows={5}
          spellCheck={false}
          value={text}
          readOnly={!granted}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <DialogAct permission="shopAllowListSet" name={own.addressesSave} again={again}>
        {(close) => <AllowListDialog shop={shop} entries={entries} close={close} />}
      </DialogAct>
    </section>
  );
};

type Kind = 'require' | 'bind' | 'lift';

/** What is done about the shop's signatures, and what follows from it. */
const requireTexts = () =>
  ({
    require: [own.signatureRequire, own.signatureRequireText],
    bind: [own.signatureBind, own.signatureBindText],
    lift: [own.signatureLift, own.signatureLiftText],
  }) as const;

const RequireDialog = ({ shop, kind, close }: DialogProps & { readonly kind: Kind }) => {
  const require = useSend(graph.RequireSignature);
  const [title, consequence] = requireTexts()[kind];
  return (
    <ActForm
      title={title}
      consequence={consequence}
      close={close}
      act={() =>
        require({
          merchantId: shop.merchantId,
          shopId: shop.id,
          required: kind !== 'lift',
          bound: kind === 'bind' ? true : null,
        }, own.signatureDone)
      }
    />
  );
};

const RotateDialog = ({ shop, close }: DialogProps) => {
  const rotate = useSend(graph.RotateSigningSecret);
  return (
    <ActForm
      title={own.rotate}
      consequence={own.rotateText}
      close={close}
      isRepeated
      act={() =>
        rotate({ merchantId: shop.merchantId, shopId: shop.id }, ({ secret }) => ({
          done: own.rotated,
          copy: secret,
        }))
      }
    />
  );
};

const Signature = ({ shop, again }: OfShop) => {
  const { opened, open, close } = useOpened<Kind | 'rotate'>(again);
  const texts = requireTexts();
  const { requireSignature: isRequired, requireBoundSignature: isBound } = shop;
  const kinds: readonly Kind[] = !isRequired ? ['require'] : isBound ? ['lift'] : ['bind', 'lift'];
  return (
    <section className="card">
      <h2>{own.signature}</h2>
      <p>{own.signatureStates[isBound ? 'bound' : isRequired ? 'body' : 'none']}</p>
      <div className="acts">
        {kinds.map((kind) => (
          <ActButton key={kind} permission="shopSignatureRequire" onPress={() => open(kind)}>
            {texts[kind][0]}
          </ActButton>
        ))}
        <ActButton permission="shopSigningSecretRotate" onPress={() => open('rotate')}>
          {own.rotate}
        </ActButton>
      </div>
      {opened === 'rotate' && <RotateDialog shop={shop} close={close} />}
      {opened !== null && opened !== 'rotate' && (
        <RequireDialog shop={shop} kind={opened} close={close} />
      )}
    </section>
  );
};

export const SecurityPart = (of: OfShop) => (
  <div className="cards">
    <AllowList {...of} />
    <Signature {...of} />
  </div>
);
