/**
 * Operators set merchants' own accounts at acquirers. A secret is sealed on arrival and never shown
 * again; the audit log has only the account. The settings apply to the next call to the acquirer,
 * in every process.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  MutationbankAccountRemoveArgs,
  MutationbankAccountSetArgs,
} from '../../../schema/generated/merchants.ts';
import { BankAccountEntity, type BankAccount } from '../../acquirers/entities.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import type { OnDatabase } from '../../platform/database/orm.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { merchantOf, byVerb } from '../../platform/access/access.ts';
import { seal, type Keys } from '../../platform/access/keys.ts';
import { changeEntities, type Acting } from '../../platform/database/audit.ts';
import { MerchantEntity } from '../../platform/database/entities.ts';

interface BankAccountDeps extends OnDatabase<'emOf'> {
  /** Seals the secrets. */
  readonly vaultKey: Keys;
}

type ShownAccount = Omit<BankAccount, 'secretSealed'>;

type AccountKey = Required<MutationbankAccountRemoveArgs>;
type AccountInput = Required<MutationbankAccountSetArgs>;

const idOf = ({ connector, purpose }: AccountKey): string => `${connector}/${purpose}`;

const mistakeIn = ({ connector, account, secret }: AccountInput): string | null => {
  if (!/^[a-z][a-z0-9_-]{1,39}$/.test(connector))
    return 'connector: expected the name of a connector, such as yookassa';
  if (!/^[!-9;-~]{1,64}$/.test(account))
    return 'account: expected 1 to 64 printable characters without spaces and colons';
  return /^[!-~]{8,256}$/.test(secret)
    ? null
    : 'secret: expected 8 to 256 printable characters without spaces';
};

/**
 * Sets the account, or replaces its secret; a different active account is retired. Refuses with
 * `not_found` or `bad_request`.
 */
const setAccount = async (
  { database, vaultKey }: BankAccountDeps,
  acting: Acting,
  input: AccountInput,
): Promise<ShownAccount | Refusal> => {
  const mistake = mistakeIn(input);
  if (mistake) return refuse('bad_request', mistake);
  const { merchantId, connector, purpose, account, secret } = input;
  return changeEntities(
    database,
    acting,
    { action: 'bank_account.set', merchantId, id: idOf(input) },
    async (em, notes) => {
      // The merchant is locked, so that each purpose has one active account.
      const merchant = await em.findOne(MerchantEntity, { id: merchantId }, forUpdate);
      if (!merchant) return refuse('not_found', 'there is no such merchant');
      const key = { merchantId, connector, purpose };
      const [active, known] = [
        await em.findOne(BankAccountEntity, { ...key, active: true }),
        await em.findOne(BankAccountEntity, { ...key, account }),
      ];
      const now = acting.now();
      notes.before = active && { connector, purpose, account: active.account };
      notes.after = { connector, purpose, account, secret: 'replaced' };
      if (active && active !== known) {
        em.assign(active, { active: false, changedAt: now });
        await em.flush();
      }
      const inForce = { secretSealed: seal(vaultKey, secret), active: true, changedAt: now };
      return known
        ? em.assign(known, inForce)
        : em.create(BankAccountEntity, { ...key, account, ...inForce, createdAt: now });
    },
  );
};

/** Retires the active account; the merchant then uses the platform's. Refuses with `not_found`. */
const removeAccount = (
  { database }: BankAccountDeps,
  acting: Acting,
  key: AccountKey,
): Promise<ShownAccount | Refusal> =>
  changeEntities(
    database,
    acting,
    { action: 'bank_account.remove', merchantId: key.merchantId, id: idOf(key) },
    async (em, notes) => {
      await em.findOne(MerchantEntity, { id: key.merchantId }, forUpdate);
      const { merchantId, connector, purpose } = key;
      const inForce = { merchantId, connector, purpose, active: true };
      const account = await em.findOne(BankAccountEntity, inForce);
      if (!account) return refuse('not_found', 'there is no such active account');
      notes.after = null;
      return em.assign(account, { active: false, changedAt: acting.now() });
    },
  );

/** The query about accounts at acquirers. */
export const bankAccountQueries = ({ database }: BankAccountDeps): QueryResolvers => ({
  bankAccounts: (_, { merchantId }, context) =>
    database.emOf(context).find(
      BankAccountEntity,
      { merchantId: merchantOf(context.principal, merchantId) },
      {
        orderBy: { connector: 'asc', purpose: 'asc', active: 'desc', changedAt: 'desc' },
        disableIdentityMap: true,
      },
    ),
});

/** The mutations for accounts at acquirers. Each writes an audit entry. */
export const bankAccountMutations = (deps: BankAccountDeps): MutationResolvers => ({
  bankAccountSet: byVerb('BankAccount', setAccount, deps),
  bankAccountRemove: byVerb('BankAccount', removeAccount, deps),
});
