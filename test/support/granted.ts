/** Results of verbs that a test expects to be granted, or refused. */
import { isRefused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';

/** The result; throws when it is a refusal. */
export const granted = <Result extends object>(result: Result | Refused): Result => {
  if (isRefused(result)) throw new Error(`refused: ${result.code}: ${result.message}`);
  return result;
};

/** The code of a refusal, or that it is none. */
export const codeOf = (result: object): string => (isRefused(result) ? result.code : 'not refused');
