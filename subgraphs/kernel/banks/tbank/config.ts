/** How T-Bank is reached, and as which terminal: the variables TBANK_*. */
import { integer, text, url, type Reader } from '../../service/config/read-variables.ts';

/**
 * Reads the variables; mistakes are added to the reading's. Null: this installation has no
 * terminal.
 */
export const readTBank = (reader: Reader) => {
  const { terminal, password, ...reached } = reader.read({
    url: ['TBANK_URL', url('https:', 'http:'), 'https://securepay.tinkoff.ru/v2'],
    /** The platform's terminal, which serves all merchants that are routed here. */
    terminal: ['TBANK_TERMINAL_KEY', text],
    password: ['TBANK_PASSWORD', text],
    /** How long one attempt of a call may take; a call has at most two. */
    attempt_ms: ['TBANK_TIMEOUT_MS', integer(100, 4_500), '4000'],
  });
  if ((terminal === null) !== (password === null))
    reader.mistakes.push('TBANK_TERMINAL_KEY and TBANK_PASSWORD are required together');
  return terminal === null || password === null ? null : { terminal, password, ...reached };
};
export type TBankConfig = NonNullable<ReturnType<typeof readTBank>>;
