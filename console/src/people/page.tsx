/** The people of the console: invited ones, and those logged in, whose sessions can be ended. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { EndSession, People, type PeopleQuery } from '../../../schema/generated/console.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { Listing } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import type { Column } from '../parts/table.tsx';
import { Moment } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { useWhose } from '../parts/whose.tsx';
import { usePermission } from '../viewer.tsx';
import { usePeopleWords } from '../words/people.ts';
import { useWords } from '../words/words.ts';
import { InvitationsPart } from './invite.tsx';

type Row = PeopleQuery['personSessions'][number];

const EndDialog = ({ session, close }: { readonly session: Row; readonly close: () => void }) => {
  const words = usePeopleWords();
  const [, end] = useMutation(EndSession);
  return (
    <ActForm
      title={words.end}
      consequence={words.endText(session.subject)}
      close={close}
      act={async () =>
        outcomeOf(await end({ id: session.id }), ({ personSessionEnd: result }) =>
          result.__typename === 'PersonSession' ? { done: words.ended } : refusedBy(result),
        )
      }
    />
  );
};

const useColumns = (end: (row: Row) => void): readonly Column<Row>[] => {
  const words = useWords();
  const own = usePeopleWords();
  const mayEnd = usePermission('personSessionEnd');
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
        <ActButton permission={mayEnd} onPress={() => end(row)}>
          {own.end}
        </ActButton>
      ),
    },
  ];
};

/** The poll interval of the list. */
const look_ms = 10_000;

const List = () => {
  const words = usePeopleWords();
  const [chosen, choose] = useState<Row | null>(null);
  const { data, error, again } = useAsk(People, {});
  useFollow(again, { every_ms: look_ms });
  const columns = useColumns(choose);
  const whose = useWhose();
  const rows = data?.personSessions.filter((row) => whose === null || row.merchantId === whose);
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
      </header>
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
      {chosen && (
        <EndDialog
          session={chosen}
          close={() => {
            choose(null);
            again();
          }}
        />
      )}
    </>
  );
};

/** The screen. */
export const PeoplePage = () => {
  const { acts, person } = useWords();
  const { title } = usePeopleWords();
  const { granted, needs } = usePermission('personSessionEnd');
  if (granted) return <List />;
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
      </header>
      <Empty title={needs === null ? acts.platform : acts.needs(person.roles[needs])} />
    </>
  );
};
