/** How T-Bank is reached, and as which terminal: the variables TBANK_*. */
import type { Reader } from '../../service/config/read-variables.ts';

export interface TBankConfig {
  /** Its base address, as `https://securepay.tinkoff.ru/v2`. */
  readonly url: string;
  /** The platform's terminal, which serves all merchants that are routed here. */
  readonly terminal: string;
  readonly password: string;
  /** How long one attempt of a call may take; a call has at most two. */
  readonly attempt_ms: number;
}

/**
 * Reads the variables; mistakes are added to the reading's. Null: this installation has no
 * terminal.
 */
export const readTBank = (read: Reader): TBankConfig | null => {
  const url = read.url('TBANK_URL', ['https:', 'http:']) ?? 'https://securepay.tinkoff.ru/v2';
  const [terminal, password] = [read.text('TBANK_TERMINAL_KEY'), read.text('TBANK_PASSWORD')];
  const attempt_ms = read.integer('TBANK_TIMEOUT_MS', 4_000, 100, 4_500);
  if ((terminal === null) !== (password === null))
    read.mistakes.push('TBANK_TERMINAL_KEY and TBANK_PASSWORD are required together');
  return terminal === null || password === null ? null : { url, terminal, password, attempt_ms };
};
