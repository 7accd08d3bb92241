/** The people of the console: invited ones, and those logged in, whose sessions can be ended. */
import { useState } from 'react';
import {
  EndSession,
  People,
  type PeopleQuery,
  Invitations,
  InvitePerson,
  WithdrawInvitation,
  type InvitationsQuery,
} from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ActButton, ActForm, PolicyForm, useOpened } from '../parts/act-form.tsx';
import { PickField, TextField } from '../parts/fields.tsx';
import { Listing } from '../parts/listing.tsx';
import { useSend } from '../parts/outcome.tsx';
import { Empty } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Moment, CopyBlock, PageHead } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { useWhose, MerchantChoice } from '../parts/whose.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { usePeopleWords } from '../words/people.ts';
import { useWords } from '../words/words.ts';

type Row = PeopleQuery['personSessions'][number];

const useColumns = (end: (row: Row) => void): readonly Column<Row>[] => {
  const words = useWords();
  const own = usePeopleWords();
  return [
    {
      name: words.columns.actor,
      cell: ({ subject, role }) => (
        <span className="two">
          <span className="cut">{subject}</span>
          <span className="quiet">{words.person.roles[role]}</span>
        </span>
      ),
    },
    { name: own.seen, isNamed: true, cell: ({ seenAt }) => <Moment at={seenAt} /> },
    { name: own.since, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { name: own.ends, isWide: true, cell: ({ endsAt }) => <Moment at={endsAt} /> },
    {
      name: words.columns.action,
      cell: (row) => (
        <ActButton permission="personSessionEnd" onPress={() => end(row)}>
          {own.end}
        </ActButton>
      ),
    },
  ];
};

/** The poll interval of the list. */
const look_ms = 10_000;

// Invites a person; the invitations that wait, which can be withdrawn.

const roles = ['viewer', 'support', 'finance', 'admin'] as const;
type Role = (typeof roles)[number];

const InviteDialog = ({ close }: { readonly close: () => void }) => {
  const words = useWords();
  const own = usePeopleWords();
  const { merchantId: mine } = useViewer();
  const { merchantId: chosen } = useAddress();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [merchantId, setMerchant] = useState(mine ?? chosen);
  const [url, setUrl] = useState('');
  const invite = useSend(InvitePerson);
  return (
    <PolicyForm
      title={own.invite}
      consequence={own.inviteText}
      isReady={/^[^\s@]+@[^\s@]+$/.test(email.trim())}
      close={close}
      isRepeated
      result={url === '' ? null : <CopyBlock text={url} />}
      act={() =>
        invite({ email: email.trim(), role, merchantId }, (result) => {
          setUrl(result.url);
          return own.invited;
        })
      }
    >
      <TextField label={own.email} value={email} set={setEmail} hint={own.emailHint} />
      <PickField
        label={own.role}
        value={role}
        set={setRole}
        options={roles.map((one) => [one, words.person.roles[one]] as const)}
      />
      {mine === null && (
        <div className="field">
          {words.merchant}
          <MerchantChoice
            className="button merchant-field"
            none={own.staff}
            value={merchantId}
            set={setMerchant}
          />
        </div>
      )}
    </PolicyForm>
  );
};

type Invitation = InvitationsQuery['personInvitations'][number];

/** The button, and what waits; with an issuer, what the issuer decides. */
const InvitationsPart = () => {
  const words = useWords();
  const own = usePeopleWords();
  const { issuer } = useViewer();
  const whose = useWhose();
  const mayInvite = usePermission('personInvite').granted;
  const { data, again } = useAsk(Invitations, {}, !mayInvite || issuer !== null);
  const { opened, open, close } = useOpened<Invitation | 'invite'>(again);
  const withdraw = useSend(WithdrawInvitation);
  if (issuer !== null) return <p className="note">{own.issuer(new URL(issuer).host)}</p>;
  const rows = (data?.personInvitations ?? []).filter(
    (row) => whose === null || row.merchantId === whose,
  );
  const columns: readonly Column<Invitation>[] = [
    {
      name: words.columns.actor,
      cell: ({ subject, role }) => (
        <span className="two">
          <span className="cut">{subject}</span>
          <span className="quiet">{words.person.roles[role]}</span>
        </span>
      ),
    },
    { name: own.until, isNamed: true, cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
    { name: own.by, isWide: true, cell: ({ invitedBy }) => invitedBy },
    {
      name: words.columns.action,
      cell: (row) => (
        <ActButton permission="personInvitationWithdraw" onPress={() => open(row)}>
          {own.withdraw}
        </ActButton>
      ),
    },
  ];
  return (
    <>
      <div className="acts">
        <ActButton permission="personInvite" isMain onPress={() => open('invite')}>
          {own.invite}
        </ActButton>
      </div>
      {rows.length > 0 && (
        <section>
          <h2 className="part-title">{own.waiting}</h2>
          <Table label={own.waiting} columns={columns} rows={rows} keyOf={({ id }) => id} />
        </section>
      )}
      {opened === 'invite' && <InviteDialog close={close} />}
      {opened !== null && opened !== 'invite' && (
        <ActForm
          title={own.withdraw}
          consequence={own.withdrawText(opened.subject)}
          close={close}
          act={() => withdraw({ id: opened.id }, own.withdrawn)}
        />
      )}
    </>
  );
};

const List = () => {
  const words = usePeopleWords();
  const { data, error, again } = useAsk(People, {});
  const { opened, open, close } = useOpened<Row>(again);
  const end = useSend(EndSession);
  useFollow(again, { every_ms: look_ms });
  const columns = useColumns(open);
  const whose = useWhose();
  const rows = data?.personSessions.filter((row) => whose === null || row.merchantId === whose);
  return (
    <>
      <PageHead name={words.title} />
      <InvitationsPart />
      <h2 className="part-title">{words.now}</h2>
      <p className="quiet">{words.text}</p>
      <Listing
        name="people"
        label={words.now}
        asked={{ error, again, rows }}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title={words.none} />}
      />
      {opened && (
        <ActForm
          title={words.end}
          consequence={words.endText(opened.subject)}
          close={close}
          act={() => end({ id: opened.id }, words.ended)}
        />
      )}
    </>
  );
};

export const PeoplePage = () => {
  const { acts, person } = useWords();
  const { title } = usePeopleWords();
  const { granted, needs } = usePermission('personSessionEnd');
  if (granted) return <List />;
  return (
    <>
      <PageHead name={title} />
      <Empty title={needs === null ? acts.platform : acts.needs(person.roles[needs])} />
    </>
  );
};
