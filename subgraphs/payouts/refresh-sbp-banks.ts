/**
 * Updates the SBP directory from an acquirer, for an operator. Participants missing from the
 * acquirer's list stay: the directory is not an allow-list.
 */
import type { Bank } from '../acquirers/bank.ts';
import { SbpBankEntity } from '../acquirers/entities.ts';
import type { Banks } from '../acquirers/route.ts';
import type { SbpBank } from '../acquirers/sbp-banks.ts';
import type { Database } from '../platform/database/orm.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { changeEntities, type Acting } from '../platform/database/audit.ts';

/** How long an operator waits for the acquirer's list. */
const deadline_ms = 15_000;
/** SBP has some hundreds of participants. */
const banks_max = 5_000;
const name_max_chars = 255;

const isName = (name: string): boolean =>
  name.length > 0 && name.length <= name_max_chars && !name.includes('\0');
const isBank = ({ memberId, name, nameEn }: SbpBank): boolean =>
  /^[0-9]{12}$/.test(memberId) && isName(name) && isName(nameEn);

/** One entry for each participant; a list with an invalid entry is refused as a whole. */
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
) => {
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
      const known = new Map((await em.find(SbpBankEntity, {})).map((one) => [one.memberId, one]));
      const changed = list.filter(({ memberId, name, nameEn }) => {
        const before = known.get(memberId);
        return before?.name !== name || before.nameEn !== nameEn;
      });
      const rows = changed.map((one) => ({ ...one, connector, refreshedAt: acting.now() }));
      if (rows.length > 0)
        await em
          .createQueryBuilder(SbpBankEntity)
          .insert(rows)
          .onConflict('memberId')
          .merge()
          .execute();
      // How many participants the acquirer named, and how many of them are new or renamed.
      const result = { named: list.length, changed: rows.length };
      notes.after = { ...result };
      return result;
    },
  );
};
