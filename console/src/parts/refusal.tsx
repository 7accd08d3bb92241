/** A refusal in the person's language. */
import { useOutcomeWords } from '../words/outcome.ts';
import { refusalOf, type Refusal } from './outcome.ts';

/** Why something was not done, in one line. */
export const useRefusalText = (): ((
  result: { readonly __typename: string } | Refusal | null | undefined,
  error: Error | undefined,
) => string) => {
  const words = useOutcomeWords();
  return (result, error) => {
    const refusal = result && 'code' in result ? result : refusalOf(error);
    return refusal ? words.refusal(refusal) : words.unknown;
  };
};

/** The text. */
export const RefusalText = ({
  refusal,
  before = '',
}: {
  readonly refusal: Refusal;
  readonly before?: string;
}) => {
  const words = useOutcomeWords();
  return (
    <p>
      {before}
      {words.refusal(refusal)}
    </p>
  );
};
