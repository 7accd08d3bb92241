/** How T-Bank is reached, and as which terminal: the variables TBANK_*. */
import { integer, oneOf, text, url, type Reader } from '../../platform/config/read-variables.ts';

/** What registers the terminal's receipts. */
export interface CashRegister {
  /** Its format of fiscal documents. */
  readonly ffd: '1.05' | '1.2';
  /** The tax system of receipts that name none: 1 to 6, as in theirs; null: those are refused. */
  readonly taxSystem: number | null;
}

/**
 * Reads the variables; mistakes are added to the reading's. Null: this installation has no
 * terminal.
 */
export const readTBank = (reader: Reader) => {
  const { terminal, password, ffd, taxSystem, ...reached } = reader.read({
    url: ['TBANK_URL', url('https:', 'http:'), 'https://securepay.tinkoff.ru/v2'],
    /** The platform's terminal, which serves all merchants that are routed here. */
    terminal: ['TBANK_TERMINAL_KEY', text],
    password: ['TBANK_PASSWORD', text],
    /** How long one attempt of a call may take; a call has at most two. */
    attempt_ms: ['TBANK_TIMEOUT_MS', integer(100, 4_500), '4000'],
    /** How many days a hold lasts, the day of its authorisation among them. */
    hold_d: ['TBANK_HOLD_DAYS', integer(1, 30), '7'],
    /** The format of the terminal's cash register; null: it has none. */
    ffd: ['TBANK_FFD', oneOf('1.05', '1.2')],
    taxSystem: ['TBANK_TAX_SYSTEM', integer(1, 6)],
  });
  if ((terminal === null) !== (password === null))
    reader.mistakes.push('TBANK_TERMINAL_KEY and TBANK_PASSWORD are required together');
  if (terminal === null || password === null) return null;
  const register: CashRegister | null = ffd === null ? null : { ffd, taxSystem };
  return { terminal, password, register, ...reached };
};
export type TBankConfig = NonNullable<ReturnType<typeof readTBank>>;
