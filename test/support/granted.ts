/** Results of verbs that a test expects to be granted, or refused. */
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';

/** The result; throws when it is a refusal. */
export const granted = <Result extends object>(result: Result | Refusal): Result => {
  if (isRefusal(result)) throw new Error(`refused: ${result.code}: ${result.message}`);
  return result;
};

/**
 * Repeats a call under an idempotency key while an earlier one with its key is at work, as a caller
 * does: on a busy machine that may take longer than a call waits.
 */
export const answered = async <Result extends object>(
  call: () => Promise<Result | Refusal>,
): Promise<Result | Refusal> => {
  for (;;) {
    const result = await call();
    if (codeOf(result) !== 'idempotent_in_progress') return result;
  }
};

/** The code of a refusal, or that it is none. */
export const codeOf = (result: object): string => (isRefusal(result) ? result.code : 'not refused');
