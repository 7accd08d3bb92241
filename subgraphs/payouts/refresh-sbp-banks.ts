/**
 * Updates the SBP directory from an acquirer, for an operator. Participants missing from the
 * acquirer's list stay: the directory is not an allow-list.
 */
import type { Bank } from '../acquirers/bank.ts';
import type { Banks } from '../acquirers/route.ts';
import type { SbpBank } from '../acquirers/sbp-banks.ts';
import type { Database } from '../platform/database/orm.ts';
import { clientOf } from '../platform/database/orm-connections.ts';
import { run, type Statement } from '../platform/database/statement.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { changeEntities, type Acting } from '../platform/database/audit.ts';

/** The result of a refresh. */
interface Refreshed {
  /** How many participants the acquirer named. */
  readonly named: number;
  /** How many of them are new or renamed. */
  readonly changed: number;
}

/** How long an operator waits for the acquirer's list. */
const deadline_ms = 15_000;
/** SBP has some hundreds of participants. */
const banks_max = 5_000;
const name_max_chars = 255;

const store: Statement = {
  name: 'sbp_bank.store',
  text: `with named as (select * from jsonb_to_recordset($1::jsonb) as named("memberId" text, name text, "nameEn" text)),
    changed as (insert into sbp_bank (member_id, name, name_en, connector, refreshed_at) select "memberId", name, "nameEn", $2, $3 from named
      on conflict (member_id) do update set name = excluded.name, name_en = excluded.name_en, connector = excluded.connector, refreshed_at = excluded.refreshed_at
        where (sbp_bank.name, sbp_bank.name_en) is distinct from (excluded.name, excluded.name_en) returning 1)
    select count(*)::int as changed from changed`,
};

const isName = (name: string): boolean =>
  name.length > 0 && name.length <= name_max_chars && !name.includes('\0');
const isBank = ({ memberId, name, nameEn }: SbpBank): boolean =>
  /^[0-9]{12}$/.test(memberId) && isName(name) && isName(nameEn);

/**
 * The acquirer's list, one entry for each participant; a list with an invalid entry is refused as a
 * whole.
 */
const readList = async (bank: Bank): Promise<readonly SbpBank[] | Refusal> => {
  if (!bank.listSbpBanks)
    return refuse('method_unsupported', `${bank.bankName} provides no list of SBP banks`);
  const listed = await bank.listSbpBanks(AbortSignal.timeout(deadline_ms)).catch(() => null);
  if (listed === null)
    return refuse('router_error', `${bank.bankName} did not return its list of SBP banks`);
  if (listed.length === 0 || listed.length > banks_max || !listed.every(isBank)) {
    return refuse(
      'router_error',
      `${bank.bankName} returned an implausible list: ${listed.length} entries, or a member id that is not 12 digits, or a name that is empty`,
    );
  }
  return [...new Map(listed.map((entry) => [entry.memberId, entry])).values()];
};

/**
 * Refreshes the directory from a connector's bank. Refuses with `route_not_configured` without such
 * a connector, `method_unsupported` when it has no list, and `router_error` when the list is
 * missing or invalid; then nothing changes.
 */
export const refreshSbpBanks = async (
  { database, banks }: { readonly database: Database; readonly banks: Banks },
  acting: Acting,
  connector: string,
): Promise<Refreshed | Refusal> => {
  const bank = banks.bankOf({
    mode: connector === banks.simulator.connector ? 'test' : 'live',
    connector,
  });
  if (isRefusal(bank)) return bank;
  // The bank is called before the transaction, so that none stays open during the call.
  const list = await readList(bank);
  if (isRefusal(list)) return list;
  return changeEntities(
    database,
    acting,
    { action: 'sbp_banks.refresh', merchantId: null, id: connector },
    async (em, notes) => {
      const values = [JSON.stringify(list), connector, acting.now()];
      const [stored] = await run<{ changed: number }>(await clientOf(em), store, values);
      const result = { named: list.length, changed: stored?.changed ?? 0 };
      notes.after = { ...result };
      return result;
    },
  );
};
