/** What a screen shows without its data: why, and the one next step. */
import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { useWords } from '../words/words.ts';

const codeOf = (error: Error): string => {
  const [first] = (error as Partial<CombinedError>).graphQLErrors ?? [];
  const code = first?.extensions['code'];
  return typeof code === 'string' ? code : '';
};

/** An error in its place; the rest of the screen works on. */
export const Failure = ({
  error,
  again,
}: {
  readonly error: Error;
  readonly again: () => void;
}) => {
  const words = useWords();
  const code = codeOf(error);
  const [first] = (error as Partial<CombinedError>).graphQLErrors ?? [];
  return (
    <div className="state" role="alert">
      <h2>{words.failure.title}</h2>
      <p>{code === '' ? words.failure.offline : (first?.message ?? '')}</p>
      {code !== '' && <p className="quiet">{words.failure.code(code)}</p>}
      <button type="button" className="button" onClick={again}>
        {words.retry}
      </button>
    </div>
  );
};

/** Nothing is there: why, and what to do. */
export const Empty = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) => (
  <div className="state">
    <h2>{title}</h2>
    {children}
  </div>
);
