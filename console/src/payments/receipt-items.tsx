/** The items of a receipt that is made by hand, and its recipient. */
import { TextField } from '../parts/fields.tsx';
import { phoneOf } from '../parts/phone.ts';
import { useClosingWords } from '../words/receipts.ts';
import type { TypedItem } from './closing-items.ts';

/** An e-mail or a phone as the graph accepts it; null when it is neither. */
export const readBuyer = (text: string): { email: string } | { phone: string } | null => {
  const typed = text.trim();
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed)) return { email: typed };
  const phone = phoneOf(typed);
  return phone === null ? null : { phone };
};

/** The items, with a quantity and a price of each. */
export const Items = ({
  legend,
  typed,
  currency,
  set,
}: {
  readonly legend?: string;
  readonly typed: readonly TypedItem[];
  readonly currency: string;
  readonly set: (typed: readonly TypedItem[]) => void;
}) => {
  const words = useClosingWords();
  const change = (at: number, part: Partial<TypedItem>) =>
    set(typed.map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <fieldset className="items">
      <legend>{legend ?? words.items}</legend>
      {typed.map(({ item, quantity, price }, index) => (
        <fieldset key={index}>
          <legend className="break">{item.description}</legend>
          <TextField
            label={words.quantity}
            value={quantity}
            set={(text) => change(index, { quantity: text })}
            isNumber
          />
          <TextField
            label={words.price(currency)}
            value={price}
            set={(text) => change(index, { price: text })}
            isNumber
          />
        </fieldset>
      ))}
      <span className="quiet">{words.left}</span>
    </fieldset>
  );
};
