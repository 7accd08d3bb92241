/** What stands where a screen has no rows: the reason and one next step, or that they are loading. */
import { type ReactNode, useEffect } from 'react';
import { reloadScreen } from '../graph/live.ts';
import { useSettings } from '../settings.ts';
import { outcomeWords } from '../words/outcome.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { refusalOf } from './outcome.tsx';
import { PageHead } from './texts.tsx';
import { usePermission, type PermissionName } from '../viewer.tsx';

// What a person came for is loaded first: what is loaded ahead of its use waits for the first rows,
// or for why there are none. A screen without either loads nothing ahead.

const shown = Promise.withResolvers<void>();

/** Resolves when there are rows, or why there are none. */
export const firstScreen: Promise<void> = shown.promise;

/** Reports, from what ends the wait of a screen. */
export const useFirstScreen = (): void => useEffect(shown.resolve, []);

export const Failure = ({
  error,
  again = reloadScreen,
}: {
  /** Without it nothing was received at all. */
  readonly error?: Error | undefined;
  readonly again?: () => void;
}) => {
  useFirstScreen();
  const refusal = refusalOf(error);
  return (
    <div className="state" role="alert">
      <h2>{words.failure.title}</h2>
      <p>{refusal ? outcomeWords.refusal(refusal) : words.failure.offline}</p>
      {refusal && <p className="quiet">{words.failure.code(refusal.code)}</p>}
      <Button press={again}>{words.retry}</Button>
    </div>
  );
};

/** What broke, with a retry in place or a reload of the page. */
export const Broken = ({ again }: { readonly again?: () => void }) => {
  useSettings();
  return (
    <Empty title={words.failure.broken}>
      <p>{words.failure.brokenText}</p>
      {again && <Button press={again}>{words.retry}</Button>}
      <Button press={() => location.reload()}>{words.failure.reload}</Button>
    </Empty>
  );
};

export const Empty = ({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text?: string;
  readonly children?: ReactNode;
}) => {
  useFirstScreen();
  return (
    <div className="state">
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
};

/** Placeholder rows of the right height while the first page loads; the style delays them. */
const Skeleton = () => (
  <div className="skeleton" aria-busy="true" aria-label={words.acts.running} role="status">
    {Array.from({ length: 8 }, (_, index) => (
      <div key={index} />
    ))}
  </div>
);

/** What stands in place of an answer: why there is none, or that it loads. */
export const Waiting = ({ error }: { readonly error: Error | undefined }) =>
  error ? <Failure error={error} /> : <Skeleton />;

/** A screen of those who have the permission; others are told who has it. */
export const OwnPage = ({
  permission,
  name,
  children,
}: {
  readonly permission: PermissionName;
  readonly name: string;
  readonly children: ReactNode;
}) => {
  const { granted, why } = usePermission(permission);
  return (
    <>
      <PageHead name={name} />
      {granted ? children : <Empty title={why} />}
    </>
  );
};
