/** Invites a person; the invitations that wait, which can be withdrawn. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  Invitations,
  InvitePerson,
  WithdrawInvitation,
  type InvitationsQuery,
} from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { PickField, TextField } from '../parts/fields.tsx';
import { MerchantChoice } from '../parts/merchant-choice.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { Table, type Column } from '../parts/table.tsx';
import { CopyBlock, Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useWhose } from '../parts/whose.tsx';
import { PolicyForm } from '../policies/act.tsx';
import { usePermission, useViewer } from '../viewer.tsx';
import { usePeopleWords } from '../words/people.ts';
import { useWords } from '../words/words.ts';

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
  const [, invite] = useMutation(InvitePerson);
  return (
    <PolicyForm
      title={own.invite}
      consequence={own.inviteText}
      isReady={/^[^\s@]+@[^\s@]+$/.test(email.trim())}
      close={close}
      isRepeated
      result={url === '' ? null : <CopyBlock text={url} />}
      act={async () =>
        outcomeOf(
          await invite({ email: email.trim(), role, merchantId }),
          ({ personInvite: result }) => {
            if (result.__typename === 'Refused') return refusedBy(result);
            setUrl(result.url);
            return { done: own.invited };
          },
        )
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

type Row = InvitationsQuery['personInvitations'][number];

const WithdrawDialog = ({ row, close }: { readonly row: Row; readonly close: () => void }) => {
  const own = usePeopleWords();
  const [, withdraw] = useMutation(WithdrawInvitation);
  return (
    <ActForm
      title={own.withdraw}
      consequence={own.withdrawText(row.subject)}
      close={close}
      act={async () =>
        outcomeOf(await withdraw({ id: row.id }), ({ personInvitationWithdraw: result }) =>
          result.__typename === 'Refused' ? refusedBy(result) : { done: own.withdrawn },
        )
      }
    />
  );
};

/** The button, and what waits; with an issuer, what the issuer decides. */
export const InvitationsPart = () => {
  const words = useWords();
  const own = usePeopleWords();
  const { issuer } = useViewer();
  const whose = useWhose();
  const mayInvite = usePermission('personInvite');
  const mayWithdraw = usePermission('personInvitationWithdraw');
  const [open, setOpen] = useState<Row | 'invite' | null>(null);
  const { data, again } = useAsk(Invitations, {}, !mayInvite.granted || issuer !== null);
  if (issuer !== null) return <p className="note">{own.issuer(new URL(issuer).host)}</p>;
  const rows = (data?.personInvitations ?? []).filter(
    (row) => whose === null || row.merchantId === whose,
  );
  const close = (): void => {
    setOpen(null);
    again();
  };
  const columns: readonly Column<Row>[] = [
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
        <ActButton permission={mayWithdraw} onPress={() => setOpen(row)}>
          {own.withdraw}
        </ActButton>
      ),
    },
  ];
  return (
    <>
      <div className="acts">
        <ActButton permission={mayInvite} isMain onPress={() => setOpen('invite')}>
          {own.invite}
        </ActButton>
      </div>
      {rows.length > 0 && (
        <section>
          <h2 className="part-title">{own.waiting}</h2>
          <Table label={own.waiting} columns={columns} rows={rows} keyOf={({ id }) => id} />
        </section>
      )}
      {open === 'invite' && <InviteDialog close={close} />}
      {open !== null && open !== 'invite' && <WithdrawDialog row={open} close={close} />}
    </>
  );
};
