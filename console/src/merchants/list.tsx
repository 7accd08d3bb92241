/** Merchants, newest first, and onboarding. */
import { useNavigate, Link } from '@tanstack/react-router';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Button, Form } from '../parts/button.tsx';
import { ActButton, useRun, type Closable } from '../parts/act-form.tsx';
import { usePage, Listing } from '../parts/listing.tsx';
import { TextField } from '../parts/fields.tsx';
import { FindField, NoRows } from '../parts/filters.tsx';
import { Status, Id, Moment, CopyBlock, PageHead } from '../parts/texts.tsx';
import type { Column } from '../parts/table.tsx';
import { reloadScreen } from '../graph/live.ts';
import { usePermission } from '../viewer.tsx';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { cabinetName_max_chars } from '../../../schema/limits.ts';
import { Modal } from '../parts/modal.tsx';
import { toldBy, send } from '../parts/outcome.tsx';
import { firstPayment } from '../selling/test-payment.tsx';
import { profileWords as own } from '../words/merchant-settings.ts';
import { givenProfile, noProfile, ProfileFields } from './profile.tsx';

interface Made {
  readonly merchantId: string;
  readonly name: string;
  readonly secret: string;
}

const Result = ({ made, close }: { readonly made: Made; readonly close: () => void }) => {
  const { merchants } = words;
  return (
    <>
      <p className="note">{merchants.secretOnce}</p>
      <CopyBlock text={made.secret} />
      <h3>{merchants.tryIt}</h3>
      <CopyBlock text={firstPayment(made.secret)} />
      <footer className="dialog-foot">
        <Button press={close}>{words.close}</Button>
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

const OnboardForm = ({ done, close }: Closable & { readonly done: (made: Made) => void }) => {
  const [name, setName] = useState('');
  const [shop, setShop] = useState('');
  const [profile, setProfile] = useState(noProfile);
  // Everything is created, or nothing.
  const { isRunning, outcome, run } = useRun(() => {
    const asked = { name: name.trim(), shopName: shop.trim(), profile: givenProfile(profile) };
    return send(graph.OnboardMerchant, asked, ({ merchant, apiKey }) => {
      done({ merchantId: merchant.id, name: asked.name, secret: apiKey.secret });
      return '';
    });
  });
  const isFaulty = outcome !== null && !isRunning && !('done' in outcome);
  const isReady = name.trim() !== '' && shop.trim() !== '' && !isRunning;
  const max = { maxLength: cabinetName_max_chars };
  return (
    <Form send={() => isReady && run()}>
      <TextField label={words.merchants.name} value={name} set={setName} {...max} autoFocus />
      <TextField
        label={words.merchants.shopName}
        value={shop}
        set={setShop}
        hint={words.merchants.shopHint}
        {...max}
      />
      <h3>{own.title}</h3>
      <p className="quiet">{own.text}</p>
      <ProfileFields texts={profile} set={setProfile} />
      <p className="bad" role="alert">
        {isFaulty && `${words.acts.refused}: ${toldBy(outcome)}`}
      </p>
      <footer className="dialog-foot">
        <Button press={close}>{words.cancel}</Button>
        <Button isMain isOff={!isReady}>
          {isRunning ? words.acts.running : words.merchants.create}
        </Button>
      </footer>
    </Form>
  );
};

const OnboardDialog = ({ close }: Closable) => {
  const [made, setMade] = useState<Made | null>(null);
  return (
    <Modal
      title={made ? words.merchants.madeTitle(made.name) : words.merchants.add}
      onClose={close}
      isHeld={made !== null}
    >
      {made ? <Result made={made} close={close} /> : <OnboardForm done={setMade} close={close} />}
    </Modal>
  );
};

type Row = graph.MerchantsQuery['merchants']['nodes'][number];

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.name, cell: ({ name }) => <strong className="cut">{name}</strong> },
  {
    name: words.columns.mode,
    cell: ({ liveEnabled }) => (
      <Status tone={liveEnabled ? 'good' : 'over'}>
        {liveEnabled ? words.mode.live : words.merchants.notLive}
      </Status>
    ),
  },
  {
    name: words.columns.shops,
    isWide: true,
    cell: ({ shops }) => <span className="cut">{shops.map(({ name }) => name).join(', ')}</span>,
  },
  { name: words.payment.id, isWide: true, cell: ({ id }) => <Id id={id} /> },
  { name: words.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

export const MerchantsPage = () => {
  const navigate = useNavigate();
  const { search, set } = useAddress();
  const mayCreate = usePermission('merchantOnboard').granted;
  const isAdding = search.act === 'new' && mayCreate;
  const asked = usePage(graph.Merchants, { text: search.of ?? null });
  return (
    <>
      <PageHead name={words.sections.merchants}>
        <ActButton permission="merchantOnboard" isMain onPress={() => set({ act: 'new' })}>
          {words.merchants.add}
        </ActButton>
      </PageHead>
      <FindField key={search.of} label={sharedWords.findMerchant} />
      <Listing
        name="merchants"
        label={words.sections.merchants}
        asked={asked}
        columns={columnsOf}
        onOpen={({ id }) => void navigate({ to: '/merchants/$id', params: { id } })}
        empty={
          <NoRows
            of={{ ...words.merchants, none: sharedWords.noMerchant }}
            isNarrow={search.of !== undefined}
          />
        }
      />
      {isAdding && (
        <OnboardDialog
          close={() => {
            set({ act: undefined });
            reloadScreen();
          }}
        />
      )}
    </>
  );
};
