/** Uploads a registry part by part, with progress; the same file continues where it stopped. */
import { useState } from 'react';
import { useClient, type Client } from 'urql';
import { AddPart, MatchRun, OpenRun } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { wholeNumber } from '../format.ts';
import { ActForm } from '../parts/act-form.tsx';
import type { Outcome, Refusal } from '../parts/outcome.ts';
import { useRefusalText } from '../parts/refusal.tsx';
import { PickField } from '../parts/fields.tsx';
import { useReconciliationWords } from '../words/reconciliation.ts';
import { useWords } from '../words/words.ts';
import { fromZoneField, startOfDay, toZoneField } from '../zone.ts';
import { partsOfFile, referenceOf } from './parts-of-file.ts';

interface Registry {
  readonly file: File;
  readonly connector: string;
  readonly mode: 'test' | 'live';
  readonly since: string;
  readonly until: string;
}

type Run =
  | { readonly __typename: 'ReconciliationRun'; readonly id: string; readonly lines: number }
  | ({ readonly __typename: 'Refused' } & Refusal);

type ReadRefusal = ReturnType<typeof useRefusalText>;

/** The run of an answer; throws the refusal as text. */
const runOf = (run: Run | undefined, error: Error | undefined, refusalText: ReadRefusal) => {
  if (run?.__typename === 'ReconciliationRun') return run;
  throw new Error(refusalText(run, error));
};

/** Sends all parts in order, then starts the matching. Returns the number of lines. */
const upload = async (
  client: Client,
  { file, ...asked }: Registry,
  progress: (done: number, all: number) => void,
  refusalText: ReadRefusal,
): Promise<number> => {
  const text = await file.text();
  const parts = partsOfFile(text);
  const reference = await referenceOf(file.name, text);
  const opened = await client.mutation(OpenRun, { ...asked, reference }).toPromise();
  const { id: runId } = runOf(opened.data?.reconciliationOpen, opened.error, refusalText);
  for (const [index, csv] of parts.entries()) {
    progress(index + 1, parts.length);
    const added = await client.mutation(AddPart, { runId, part: index + 1, csv }).toPromise();
    runOf(added.data?.reconciliationPartAdd, added.error, refusalText);
  }
  const matched = await client.mutation(MatchRun, { runId }).toPromise();
  return runOf(matched.data?.reconciliationMatch, matched.error, refusalText).lines;
};

/** A day of the person's zone as a field takes it. */
const dayField = (daysAgo: number): string => toZoneField(startOfDay(daysAgo)).slice(0, 10);

const startOf = (day: string): string => fromZoneField(`${day}T00:00`)?.toISOString() ?? '';

/** Whose registries there are in a mode, the commonest first. */
const connectorsIn = {
  live: ['yookassa', 'tbank'],
  test: ['simulator', 'yookassa', 'tbank'],
} as const;
type Connector = (typeof connectorsIn)['test'][number];

/** The dialog. */
export const UploadDialog = ({ close }: { readonly close: () => void }) => {
  const own = useReconciliationWords();
  const { locale } = useWords();
  const { mode } = useAddress();
  const client = useClient();
  const refusalText = useRefusalText();
  const [file, setFile] = useState<File | null>(null);
  const [connector, setConnector] = useState<Connector>(connectorsIn[mode][0]);
  const [days, setDays] = useState({ since: dayField(1), until: dayField(0) });
  const [done, setDone] = useState('');
  const act = async (): Promise<Outcome> => {
    if (!file) return { refused: own.fileHint };
    const since = startOf(days.since);
    const until = startOf(days.until);
    const registry = { file, connector, mode, since, until };
    const tell = (part: number, all: number): void => setDone(own.progress(part, all));
    return upload(client, registry, tell, refusalText).then(
      (lines) => ({ done: own.uploaded(wholeNumber(lines, locale)) }),
      (error: unknown) => ({ refused: `${(error as Error).message} ${own.stopped}` }),
    );
  };
  return (
    <ActForm
      title={own.upload}
      consequence={own.uploadText}
      isReady={file !== null && days.since < days.until}
      close={close}
      act={act}
    >
      <label className="field">
        {own.file}
        <input
          type="file"
          accept=".csv,text/csv"
          onChange={({ target }) => setFile(target.files?.[0] ?? null)}
        />
        <span className="quiet">{own.fileHint}</span>
      </label>
      <PickField
        label={own.connector}
        value={connector}
        set={setConnector}
        options={connectorsIn[mode].map((name) => [name, own.connectors[name]] as const)}
      />
      {(['since', 'until'] as const).map((name) => (
        <label key={name} className="field">
          {own[name]}
          <input
            type="date"
            value={days[name]}
            onChange={({ target }) => setDays({ ...days, [name]: target.value })}
          />
        </label>
      ))}
      <p role="status">{done}</p>
    </ActForm>
  );
};
