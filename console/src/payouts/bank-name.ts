/** The name of a bank of SBP. */
import { SbpBanks } from '../../../schema/generated/console.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useWords } from '../words/words.ts';

/** The name, or the member id until the names are known; empty without a bank. */
export const useBankName = (bankId: string | null): string => {
  const { language } = useWords();
  const { data } = useAsk(SbpBanks, {}, bankId === null);
  const bank = data?.sbpBanks.find(({ memberId }) => memberId === bankId);
  return (language === 'ru' ? bank?.name : bank?.nameEn) ?? bankId ?? '';
};
