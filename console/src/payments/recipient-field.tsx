/**
 * Where the receipt of a part goes: to the address that the payment has, which is not shown whole,
 * or to another one by a choice of its own. One that looks like the payment's needs a second word.
 */
import { useId, useState } from 'react';
import { TextField } from '../parts/fields.tsx';
import { useClosingWords } from '../words/closing.ts';
import { readBuyer } from './receipt-items.tsx';

type Buyer = NonNullable<ReturnType<typeof readBuyer>>;

/** The address as receipts show it, in the form of the service. */
const maskOf = (buyer: Buyer): string =>
  'email' in buyer
    ? `${Array.from(buyer.email)[0] ?? ''}***${buyer.email.slice(buyer.email.lastIndexOf('@'))}`
    : `+7 *** ***-${buyer.phone.slice(-4, -2)}-${buyer.phone.slice(-2)}`;

/** The choice. `masks`: the payment's addresses as they are shown; none, where it has no more any. */
export const useRecipient = (masks: readonly string[]) => {
  const hasOwn = masks.length > 0;
  const [isOther, setOther] = useState(!hasOwn);
  const [text, setText] = useState('');
  const [isSure, setSure] = useState(false);
  const typed = readBuyer(text);
  const isAlike = typed !== null && masks.some((one) => one === maskOf(typed));
  const isReady = !isOther || (typed !== null && (!isAlike || isSure));
  return {
    /** Null: that of the payment. */
    customer: isOther ? typed : null,
    isReady,
    field: { masks, hasOwn, isOther, setOther, text, setText, isAlike, isSure, setSure },
  };
};

/** The fields. */
export const RecipientField = ({
  masks,
  hasOwn,
  isOther,
  setOther,
  text,
  setText,
  isAlike,
  isSure,
  setSure,
}: ReturnType<typeof useRecipient>['field']) => {
  const words = useClosingWords();
  const name = useId();
  return (
    <>
      {hasOwn && (
        <fieldset className="options">
          <legend>{words.recipient}</legend>
          <label>
            <input type="radio" name={name} checked={!isOther} onChange={() => setOther(false)} />
            {words.ownRecipient(masks.join(', '))}
          </label>
          <label>
            <input type="radio" name={name} checked={isOther} onChange={() => setOther(true)} />
            {words.otherRecipient}
          </label>
        </fieldset>
      )}
      {isOther && <TextField label={words.to} value={text} set={setText} hint={words.toNew} />}
      {isOther && isAlike && (
        <fieldset className="options">
          <label>
            <input
              type="checkbox"
              checked={isSure}
              onChange={({ target }) => setSure(target.checked)}
            />
            {words.alike}
          </label>
        </fieldset>
      )}
    </>
  );
};
