/** Selects the merchant for screens that show one merchant's objects. */
import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { useViewer } from '../viewer.tsx';
import { useSharedWords } from '../words/shared.ts';
import { Empty } from './states.tsx';

/** The selected merchant: a cabinet user's own, or the one chosen in the top bar. */
export const useWhose = (): string | null => {
  const { merchantId } = useAddress();
  return useViewer().merchantId ?? merchantId;
};

/** Shows the part once a merchant is chosen. */
export const OfMerchant = ({
  children,
}: {
  readonly children: (merchantId: string) => ReactNode;
}) => {
  const words = useSharedWords();
  const merchantId = useWhose();
  if (merchantId !== null) return children(merchantId);
  return (
    <Empty title={words.choose}>
      <p>{words.chooseText}</p>
    </Empty>
  );
};
