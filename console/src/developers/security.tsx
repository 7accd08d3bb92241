/** A shop's allow-list, and whether its requests must be signed. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { actButton } from '../parts/act-form.tsx';
import { send, shownOnce } from '../parts/outcome.tsx';
import { usePermission } from '../viewer.tsx';
import { developerWords as own } from '../words/developers.ts';
import type { DeveloperShop } from './keys.tsx';

interface OfShop {
  readonly shop: DeveloperShop;
}

const AllowList = ({ shop }: OfShop) => {
  const { granted } = usePermission('shopAllowListSet');
  const [text, setText] = useState(() => shop.allowList.join('\n'));
  const entries = text.split(/[\s,]+/).filter(Boolean);
  const { merchantId, id: shopId } = shop;
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
      {actButton({
        permission: 'shopAllowListSet',
        title: own.addressesSave,
        consequence: own.addressesConsequence(entries.length),
        children: entries.length > 0 && <pre className="record">{entries.join('\n')}</pre>,
        act: () => send(graph.SetAllowList, { merchantId, shopId, entries }, own.addressesDone),
      })}
    </section>
  );
};

const Signature = ({ shop }: OfShop) => {
  const {
    merchantId,
    id: shopId,
    requireSignature: isRequired,
    requireBoundSignature: isBound,
  } = shop;
  const of = { merchantId, shopId };
  const requiring = (
    title: string,
    consequence: string,
    change: Pick<graph.RequireSignatureMutationVariables, 'required' | 'bound'>,
  ) =>
    actButton({
      permission: 'shopSignatureRequire',
      title,
      consequence,
      act: () => send(graph.RequireSignature, { ...of, ...change }, own.signatureDone),
    });
  return (
    <section className="card">
      <h2>{own.signature}</h2>
      <p>{own.signatureStates[isBound ? 'bound' : isRequired ? 'body' : 'none']}</p>
      <div className="acts">
        {!isRequired &&
          requiring(own.signatureRequire, own.signatureRequireText, {
            required: true,
            bound: null,
          })}
        {isRequired &&
          !isBound &&
          requiring(own.signatureBind, own.signatureBindText, { required: true, bound: true })}
        {isRequired &&
          requiring(own.signatureLift, own.signatureLiftText, { required: false, bound: null })}
        {actButton({
          permission: 'shopSigningSecretRotate',
          title: own.rotate,
          consequence: own.rotateText,
          isRepeated: true,
          act: () => send(graph.RotateSigningSecret, of, ({ secret }) => shownOnce(secret)),
        })}
      </div>
    </section>
  );
};

export const SecurityPart = (of: OfShop) => (
  <div className="cards">
    <AllowList {...of} />
    <Signature {...of} />
  </div>
);
