/** Creates a merchant with its shop and a test key; the key is shown once. */
import { cabinetName_max_chars } from '../../../schema/limits.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { OnboardMerchant } from '../../../schema/generated/console.ts';
import { Modal } from '../parts/modal.tsx';
import { useRefusalText } from '../parts/refusal.tsx';
import { CopyBlock } from '../parts/texts.tsx';
import { firstPayment } from '../payments/first-payment.ts';
import { useProfileWords } from '../words/merchant-profile.ts';
import { useWords } from '../words/words.ts';
import { givenProfile, noProfile, ProfileFields, type ProfileTexts } from './profile.tsx';

interface Made {
  readonly merchantId: string;
  readonly name: string;
  readonly secret: string;
}

/** Everything is created, or nothing. */
const useOnboarding = () => {
  const refusalText = useRefusalText();
  const [, onboard] = useMutation(OnboardMerchant);
  return async (name: string, shopName: string, texts: ProfileTexts): Promise<Made> => {
    const profile = givenProfile(texts);
    const { data, error } = await onboard({ name, shopName, profile });
    const result = data?.merchantOnboard;
    if (result?.__typename !== 'MerchantOnboarded') throw new Error(refusalText(result, error));
    return { merchantId: result.merchant.id, name, secret: result.apiKey.secret };
  };
};

const Result = ({ made, close }: { readonly made: Made; readonly close: () => void }) => {
  const words = useWords();
  const { merchants } = words;
  return (
    <>
      <p className="note">{merchants.secretOnce}</p>
      <CopyBlock text={made.secret} />
      <h3>{merchants.tryIt}</h3>
      <CopyBlock text={firstPayment(made.secret)} />
      <footer className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          {words.close}
        </button>
        <Link
          className="button main"
          to="/payments"
          search={{ mode: 'test', merchant: made.merchantId }}
          onClick={close}
        >
          {merchants.seePayments}
        </Link>
      </footer>
    </>
  );
};

const Fault = ({ text }: { readonly text: string }) => {
  const { acts } = useWords();
  return (
    <p className="bad" role="alert">
      {text !== '' && `${acts.refused}: ${text}`}
    </p>
  );
};

const Fields = ({
  name,
  shop,
  setName,
  setShop,
}: Readonly<Record<'name' | 'shop', string>> &
  Readonly<Record<'setName' | 'setShop', (text: string) => void>>) => {
  const { merchants } = useWords();
  return (
    <>
      <label className="field">
        {merchants.name}
        <input
          value={name}
          maxLength={cabinetName_max_chars}
          autoFocus
          onChange={(e) => setName(e.target.value)}
        />
      </label>
      <label className="field">
        {merchants.shopName}
        <input
          value={shop}
          maxLength={cabinetName_max_chars}
          onChange={(e) => setShop(e.target.value)}
        />
        <span className="quiet">{merchants.shopHint}</span>
      </label>
    </>
  );
};

/** The dialog. */
export const OnboardDialog = ({ close }: { readonly close: () => void }) => {
  const words = useWords();
  const { merchants, acts } = words;
  const details = useProfileWords();
  const onboard = useOnboarding();
  const [name, setName] = useState('');
  const [shop, setShop] = useState('');
  const [profile, setProfile] = useState(noProfile);
  const [made, setMade] = useState<Made | null>(null);
  const [state, setState] = useState<{ isRunning: boolean; fault: string }>({
    isRunning: false,
    fault: '',
  });
  const run = async (): Promise<void> => {
    setState({ isRunning: true, fault: '' });
    try {
      setMade(await onboard(name.trim(), shop.trim(), profile));
    } catch (error) {
      setState({ isRunning: false, fault: error instanceof Error ? error.message : '' });
    }
  };
  const isReady = name.trim() !== '' && shop.trim() !== '' && !state.isRunning;
  return (
    <Modal
      title={made ? merchants.madeTitle(made.name) : merchants.add}
      isOpen
      onClose={close}
      isHeld={made !== null}
    >
      {made ? (
        <Result made={made} close={close} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void run();
          }}
        >
          <Fields name={name} shop={shop} setName={setName} setShop={setShop} />
          <h3>{details.title}</h3>
          <p className="quiet">{details.text}</p>
          <ProfileFields texts={profile} set={setProfile} />
          <Fault text={state.fault} />
          <footer className="dialog-foot">
            <button type="button" className="button" onClick={close}>
              {words.cancel}
            </button>
            <button type="submit" className="button main" disabled={!isReady}>
              {state.isRunning ? acts.running : merchants.create}
            </button>
          </footer>
        </form>
      )}
    </Modal>
  );
};
