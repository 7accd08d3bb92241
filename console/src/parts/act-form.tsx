/**
 * The dialog of an action that moves money or cannot be undone: it states the consequence, has one
 * button, which is disabled while it runs, and shows the result in place. Enter in a field does not
 * confirm.
 */
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { reloadScreen } from '../graph/live.ts';
import { openStore } from '../store.ts';
import { usePermission, type PermissionName } from '../viewer.tsx';
import { outcomeWords } from '../words/outcome.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { PickField, TextField } from './fields.tsx';
import { Modal } from './modal.tsx';
import type { Outcome } from './outcome.tsx';
import { CopyBlock } from './texts.tsx';

/** A dialog, which its opener closes. */
export interface Closable {
  readonly close: () => void;
}

const opened = openStore<ReactNode>(null);

/** Closes the dialog that a button of an act has opened, and reloads what it may have changed. */
export const closeAct = (): void => {
  opened.set(null);
  reloadScreen();
};

interface ActFormProps {
  readonly title: string;
  readonly consequence: string;
  readonly isReady?: boolean;
  /** Without it `closeAct`: of a dialog that is opened otherwise. */
  readonly close?: () => void;
  readonly act: () => Promise<Outcome>;
  readonly children?: ReactNode;
  /** Shown once after success: the dialog then closes only by its button. */
  readonly result?: ReactNode;
  /** Whether it says that the action is in the audit log. */
  readonly isAudited?: boolean;
  /** Whether a second press may repeat the action, such as creating another key. */
  readonly isRepeated?: boolean;
  /** Whether this action was sent before without an answer. */
  readonly isPending?: boolean;
}

export const OutcomeText = ({
  outcome,
  isRepeated,
}: {
  readonly outcome: Outcome;
  readonly isRepeated: boolean;
}) => {
  if ('done' in outcome) return <p className="done">{outcome.done}</p>;
  if ('unknown' in outcome)
    return (
      <p className="note">
        {outcomeWords.unknown} {isRepeated ? outcomeWords.twice : outcomeWords.once}
      </p>
    );
  return (
    <div className="bad">
      <p>
        {words.acts.refused}: {outcome.refused}
      </p>
    </div>
  );
};

const Leaving = ({ stay, leave }: { readonly stay: () => void; readonly leave: () => void }) => (
  <footer className="dialog-foot">
    <p role="alert">{outcomeWords.discard}</p>
    <Button autoFocus press={stay}>
      {outcomeWords.stay}
    </Button>
    <Button press={leave}>{outcomeWords.leave}</Button>
  </footer>
);

const Foot = ({
  title,
  isDone,
  isRunning,
  isReady,
  run,
  leave,
}: Readonly<Record<'isDone' | 'isRunning' | 'isReady', boolean>> &
  Readonly<Record<'run' | 'leave', () => void>> & { readonly title: string }) => (
  <footer className="dialog-foot">
    {/* The button that was pressed is gone then: the focus must not be lost with it. */}
    <Button key={String(isDone)} autoFocus={isDone} press={leave}>
      {isDone ? words.close : words.cancel}
    </Button>
    {!isDone && (
      <Button isMain isOff={!isReady || isRunning} press={run}>
        {isRunning ? words.acts.running : title}
      </Button>
    )}
  </footer>
);

/** Runs an act, and keeps what came of it. */
export const useRun = (act: () => Promise<Outcome>) => {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const run = async (): Promise<void> => {
    setRunning(true);
    setOutcome(await act());
    setRunning(false);
  };
  return { isRunning, outcome, run: () => void run() };
};

export const ActForm = ({
  title,
  consequence,
  isReady = true,
  close = closeAct,
  children,
  result,
  isAudited = false,
  isRepeated = false,
  isPending = false,
  act,
}: ActFormProps) => {
  const { isRunning, outcome, run } = useRun(async () => {
    const came = await act();
    // The screen behind it may tell what is unknown.
    if ('unknown' in came) reloadScreen();
    return came;
  });
  const [isChanged, setChanged] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const isDone = outcome !== null && 'done' in outcome;
  const leave = (): void => {
    if (isDone || !isChanged) close();
    else setLeaving(!isLeaving);
  };
  const copy = isDone ? outcome.copy : undefined;
  const shown = copy === undefined ? result : <CopyBlock text={copy} />;
  const isHeld = isDone && Boolean(shown);
  return (
    <Modal title={title} onClose={leave} isHeld={isHeld}>
      {!isDone && (
        <div className="typed" onChange={() => setChanged(true)}>
          <p>{consequence}</p>
          {children}
          {isAudited && <p className="quiet">{sharedWords.audited}</p>}
        </div>
      )}
      <div aria-live="polite">
        {isPending && !isRunning && outcome === null && (
          <p className="note">{outcomeWords.pending}</p>
        )}
        {outcome && <OutcomeText outcome={outcome} isRepeated={isRepeated} />}
        {isDone && shown}
      </div>
      {isLeaving && !isDone ? (
        <Leaving stay={() => setLeaving(false)} leave={close} />
      ) : (
        <Foot
          title={title}
          isDone={isDone}
          isRunning={isRunning}
          isReady={isReady}
          run={run}
          leave={leave}
        />
      )}
    </Modal>
  );
};

interface ActButtonProps {
  readonly permission: PermissionName;
  readonly onPress: () => void;
  readonly isMain?: boolean;
  /** Why this object's action is not allowed, whatever the role. */
  readonly barred?: string | undefined;
  readonly children: string;
}

/** The button. It stays focusable, so that its reason can be read. */
export const ActButton = ({
  permission,
  onPress,
  isMain = false,
  barred,
  children,
}: ActButtonProps) => {
  const permitted = usePermission(permission);
  const granted = permitted.granted && barred === undefined;
  const why = permitted.granted ? barred : permitted.why;
  return (
    <button
      type="button"
      className={isMain ? 'button main' : 'button'}
      aria-disabled={!granted}
      title={granted ? undefined : why}
      onClick={() => {
        if (granted) onPress();
      }}
    >
      {children}
      {!granted && <span className="unseen">. {why}</span>}
    </button>
  );
};

/** A field of a form: a choice where it has options, else a text. */
interface FieldSpec extends Pick<
  Parameters<typeof TextField>[0],
  'label' | 'hint' | 'maxLength' | 'rows' | 'isNumber' | 'isSecret'
> {
  /** Without it nothing, or the first option. */
  readonly initial?: string;
  readonly isOptional?: boolean;
  readonly options?: readonly (readonly [value: string, name: string])[];
}

export type Specs = Readonly<Record<string, FieldSpec>>;
export type NoFields = Readonly<Record<never, FieldSpec>>;

type TypedIn<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends {
    readonly options: readonly (readonly [infer Value, string])[];
  }
    ? Value
    : string;
};

interface Described<Fields> extends Pick<
  ActFormProps,
  'consequence' | 'isRepeated' | 'isAudited' | 'children'
> {
  readonly fields?: Fields;
  /** What is typed has no spaces at its ends, but for a secret. */
  readonly act: (typed: TypedIn<Fields>) => Promise<Outcome>;
  /** Whether it may be sent, when each field that is needed has something. */
  readonly fits?: (typed: TypedIn<Fields>) => boolean;
}

const DescribedForm = <Fields extends Specs>({
  fields,
  act,
  fits = () => true,
  children,
  ...form
}: Described<Fields> & Pick<ActFormProps, 'title'>) => {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const all = Object.entries<FieldSpec>(fields ?? {}).map(
    ([name, { initial, isOptional = false, options, ...spec }]) => {
      const value = typed[name] ?? initial ?? options?.[0]?.[0] ?? '';
      const text = spec.isSecret ? value : value.trim();
      const set = (next: string): void => setTyped((before) => ({ ...before, [name]: next }));
      const isGiven = isOptional || text !== '';
      return { name, text, isGiven, options, field: { ...spec, value, set } };
    },
  );
  // Each field has its text, and a choice one of its values.
  const sent = Object.fromEntries(all.map(({ name, text }) => [name, text])) as TypedIn<Fields>;
  const isReady = all.every(({ isGiven }) => isGiven) && fits(sent);
  return (
    <ActForm {...form} isReady={isReady} act={() => act(sent)}>
      {all.map(({ name, options, field }) =>
        options ? (
          <PickField key={name} {...field} options={options} />
        ) : (
          <TextField key={name} {...field} />
        ),
      )}
      {children}
    </ActForm>
  );
};

/** The dialog of an act: a form, or one of its own. */
export type Doing<Fields extends Specs = NoFields> =
  | { readonly dialog: ReactNode }
  | Described<Fields>;

/** An act on an object: its button, and its dialog. */
export type Act<Fields extends Specs = NoFields> = Pick<
  ActButtonProps,
  'permission' | 'isMain' | 'barred'
> & {
  readonly title: string;
  /** The button's; without it the title. */
  readonly name?: string;
} & Doing<Fields>;

/**
 * The dialog that a button of an act has opened, as the act was then. It stays when its button goes,
 * so that its result can be read, and goes with the address.
 */
export const ActDialog = () => {
  const href = useRouterState({ select: ({ location }) => location.href });
  useEffect(() => () => opened.set(null), [href]);
  return opened.use();
};

/** The button of an act, which opens its dialog. */
export const actButton = <Fields extends Specs = NoFields>(act: Act<Fields>) => (
  <ActButton
    {...act}
    onPress={() => opened.set('dialog' in act ? act.dialog : <DescribedForm {...act} />)}
  >
    {act.name ?? act.title}
  </ActButton>
);

/** What stands above a list and adds to it. */
export const AddBar = <Fields extends Specs = NoFields>(act: Act<Fields>) => (
  <div className="acts">{actButton({ isMain: true, ...act })}</div>
);
