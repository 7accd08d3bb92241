/** Whose things a screen shows that are kept merchant by merchant. */
import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { useViewer } from '../viewer.tsx';
import { useSharedWords } from '../words/shared.ts';
import { Empty } from './states.tsx';

/** The merchant that is looked at: a cabinet user's own, or the one that is chosen above. */
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
