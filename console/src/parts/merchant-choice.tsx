/** The choice of a merchant: a button that opens a search. */
import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { PopoverButton } from './popover-button.tsx';
import { Empty } from './states.tsx';
import { useMerchantNames, useWhose } from './whose.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';

export const LaterMerchantList = later(() =>
  import('./merchant-list.tsx').then(({ MerchantList }) => MerchantList),
);

/** The button says what is chosen; `none` names the choice of no merchant. */
export const MerchantChoice = ({
  className,
  value,
  set,
  none,
}: {
  readonly className: string;
  readonly value: string | null;
  readonly set: (merchantId: string | null) => void;
  readonly none: string;
}) => {
  const { merchant } = useWords();
  const { choose } = useSharedWords();
  const nameOf = useMerchantNames([value]);
  return (
    <PopoverButton
      className={className}
      title={choose}
      face={
        <>
          <span className="unseen">{merchant}: </span>
          <span className="cut">{value === null ? none : nameOf(value)}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <LaterMerchantList
          none={none}
          set={(merchantId) => {
            close();
            set(merchantId);
          }}
        />
      )}
    </PopoverButton>
  );
};

/** The choice of the merchant whose objects the screens show. */
export const AddressMerchant = ({
  className,
  none,
}: {
  readonly className: string;
  readonly none: string;
}) => {
  const { merchantId, set } = useAddress();
  return (
    <MerchantChoice
      className={className}
      none={none}
      value={merchantId}
      set={(id) =>
        set({ merchant: id ?? undefined, after: undefined, before: undefined, open: undefined })
      }
    />
  );
};

/** Shows the part once a merchant is chosen. */
export const OfMerchant = ({
  children,
}: {
  readonly children: (merchantId: string) => ReactNode;
}) => {
  const words = useSharedWords();
  const { allMerchants } = useWords();
  const merchantId = useWhose();
  if (merchantId !== null) return children(merchantId);
  return (
    <Empty title={words.choose}>
      <p>{words.chooseText}</p>
      <AddressMerchant className="button" none={allMerchants} />
    </Empty>
  );
};
