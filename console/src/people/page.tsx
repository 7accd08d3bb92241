/** The people of the console: invited ones, and those logged in, whose sessions can be ended. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ActForm, AddBar, actButton } from '../parts/act-form.tsx';
import { PickField, TextField, useTyped } from '../parts/fields.tsx';
import { Listing } from '../parts/listing.tsx';
import { send } from '../parts/outcome.tsx';
import { Empty, OwnPage } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose, MerchantChoice } from '../parts/whose.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { peopleWords as own } from '../words/people.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

type Row = graph.PeopleQuery['personSessions'][number];

const PersonOf = ({ row: { subject, role } }: { readonly row: Pick<Row, 'subject' | 'role'> }) => (
  <span className="two">
    <span className="cut">{subject}</span>
    <span className="quiet">{words.person.roles[role]}</span>
  </span>
);

const look_ms = 10_000;

type Typed = Readonly<Pick<Row, 'role' | 'merchantId'> & { email: string }>;

const InviteDialog = () => {
  const { merchantId: mine } = useViewer();
  const { merchantId: chosen } = useAddress();
  const { typed, held } = useTyped<Typed>({
    email: '',
    role: 'viewer',
    merchantId: mine ?? chosen,
  });
  const email = typed.email.trim();
  return (
    <ActForm
      isAudited
      title={own.invite}
      consequence={own.inviteText}
      isReady={/^[^\s@]+@[^\s@]+$/.test(email)}
      isRepeated
      act={() =>
        send(graph.InvitePerson, { ...typed, email }, ({ url }) => ({
          done: own.invited,
          copy: url,
        }))
      }
    >
      <TextField label={own.email} {...held('email')} hint={own.emailHint} />
      <PickField label={own.role} {...held('role')} options={optionsOf(words.person.roles)} />
      {mine === null && (
        <div className="field">
          {words.merchant}
          <MerchantChoice
            className="button merchant-field"
            none={own.staff}
            {...held('merchantId')}
          />
        </div>
      )}
    </ActForm>
  );
};

type Invitation = graph.InvitationsQuery['personInvitations'][number];

/** The button, and what waits; with an issuer, what the issuer decides. */
const InvitationsPart = () => {
  const { issuer } = useViewer();
  const whose = useWhose();
  const mayInvite = usePermission('personInvite').granted;
  const { data } = useAsk(graph.Invitations, {}, { pause: !mayInvite || issuer !== null });
  if (issuer !== null) return <p className="note">{own.issuer(new URL(issuer).host)}</p>;
  const rows = (data?.personInvitations ?? []).filter(
    (row) => whose === null || row.merchantId === whose,
  );
  const columns: readonly Column<Invitation>[] = [
    { name: words.columns.actor, cell: (row) => <PersonOf row={row} /> },
    { name: own.until, isNamed: true, cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
    { name: own.by, isWide: true, cell: ({ invitedBy }) => invitedBy },
    {
      name: words.columns.action,
      cell: ({ id, subject }) =>
        actButton({
          permission: 'personInvitationWithdraw',
          title: own.withdraw,
          consequence: own.withdrawText(subject),
          act: () => send(graph.WithdrawInvitation, { id }, own.withdrawn),
        }),
    },
  ];
  return (
    <>
      <AddBar permission="personInvite" title={own.invite} dialog={<InviteDialog />} />
      {rows.length > 0 && (
        <section>
          <h2 className="part-title">{own.waiting}</h2>
          <Table label={own.waiting} columns={columns} rows={rows} keyOf={({ id }) => id} />
        </section>
      )}
    </>
  );
};

const columnsOf = (): readonly Column<Row>[] => [
  { name: words.columns.actor, cell: (row) => <PersonOf row={row} /> },
  { name: own.seen, isNamed: true, cell: ({ seenAt }) => <Moment at={seenAt} /> },
  { name: own.since, isWide: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: own.ends, isWide: true, cell: ({ endsAt }) => <Moment at={endsAt} /> },
];

const List = () => {
  const { data, error } = useAsk(graph.People, {}, { follow: { every_ms: look_ms } });
  const whose = useWhose();
  const rows = data?.personSessions.filter((row) => whose === null || row.merchantId === whose);
  return (
    <>
      <InvitationsPart />
      <h2 className="part-title">{own.now}</h2>
      <p className="quiet">{own.text}</p>
      <Listing
        name="people"
        label={own.now}
        asked={{ error, rows }}
        columns={columnsOf}
        actOf={({ id, subject }) => ({
          permission: 'personSessionEnd',
          title: own.end,
          consequence: own.endText(subject),
          act: () => send(graph.EndSession, { id }, own.ended),
        })}
        empty={<Empty title={own.none} />}
      />
    </>
  );
};

export const PeoplePage = () => (
  <OwnPage permission="personSessionEnd" name={own.title}>
    <List />
  </OwnPage>
);
