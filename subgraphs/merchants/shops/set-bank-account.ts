/**
 * Merchants' own accounts at acquirers, as operators set them. A secret is sealed as it arrives and
 * is never shown again; the audit log has the account alone. The settings hold from the next call
 * to the acquirer on, in every process.
 */
import type { MutationResolvers, QueryResolvers } from '../../../schema/generated/merchants.ts';
import type { AccountPurpose } from '../../kernel/banks/bank-accounts.ts';
import { BankAccountEntity, type BankAccount } from '../../kernel/banks/entities.ts';
import { columns, propertyNames, run, type Statement } from '../../kernel/database/statement.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import { merchantOf } from '../../kernel/service/access/reach.ts';
import { seal } from '../../kernel/service/access/vault.ts';
import { changeWithAudit, type Acting } from '../audit.ts';
import { missing } from '../policies/change-policy.ts';
import type { Keys } from '../../kernel/service/access/keys.ts';

export interface BankAccountParts {
  readonly database: Pick<Database, 'pool'>;
  /** Seals the secrets. */
  readonly vaultKey: Keys;
}

const accountColumns = columns(
  propertyNames(BankAccountEntity).filter((name) => name !== 'secretSealed'),
);

type ShownAccount = Omit<BankAccount, 'secretSealed'>;

const lockMerchant: Statement = {
  name: 'bank_account.lock',
  text: 'select 1 from merchant where id = $1 for update',
};
const findActive: Statement = {
  name: 'bank_account.active',
  text: `select ${accountColumns} from bank_account where merchant_id = $1 and connector = $2 and purpose = $3 and active`,
};
const retire: Statement = {
  name: 'bank_account.retire',
  text: `update bank_account set active = false, changed_at = $4 where merchant_id = $1 and connector = $2 and purpose = $3 and active returning ${accountColumns}`,
};
const upsert: Statement = {
  name: 'bank_account.set',
  text: `insert into bank_account (merchant_id, connector, purpose, account, secret_sealed, active, created_at, changed_at) values ($1, $2, $3, $4, $5, true, $6, $6)
    on conflict (merchant_id, connector, purpose, account) do update set secret_sealed = excluded.secret_sealed, active = true, changed_at = excluded.changed_at
    returning ${accountColumns}`,
};
const list: Statement = {
  name: 'bank_account.list',
  text: `select ${accountColumns} from bank_account where merchant_id = $1 order by connector, purpose, active desc, changed_at desc`,
};

interface AccountKey {
  readonly merchantId: string;
  readonly connector: string;
  readonly purpose: AccountPurpose;
}

type AccountInput = AccountKey & { readonly account: string; readonly secret: string };

const told = ({ connector, purpose, account }: ShownAccount) => ({ connector, purpose, account });

const subjectOf = ({ connector, purpose }: AccountKey) => ({
  kind: 'bank_account',
  id: `${connector}/${purpose}`,
});

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
 * Sets the account, or replaces its secret; another one that was in force is retired. Refuses with
 * `not_found` or `bad_request`.
 */
const setAccount = async (
  { database, vaultKey }: BankAccountParts,
  acting: Acting,
  input: AccountInput,
): Promise<ShownAccount | Refused> => {
  const mistake = mistakeIn(input);
  if (mistake) return refused('bad_request', mistake);
  const { merchantId, connector, purpose, account, secret } = input;
  return changeWithAudit(
    database,
    acting,
    { action: 'bank_account.set', merchantId, subject: subjectOf(input) },
    async (client) => {
      const gone = await missing(client, merchantId, null);
      if (gone) return gone;
      await run(client, lockMerchant, [merchantId]);
      const [before] = await run<ShownAccount>(client, findActive, [
        merchantId,
        connector,
        purpose,
      ]);
      if (before && before.account !== account)
        await run(client, retire, [merchantId, connector, purpose, acting.now()]);
      const [after] = await run<ShownAccount>(client, upsert, [
        merchantId,
        connector,
        purpose,
        account,
        seal(vaultKey, secret),
        acting.now(),
      ]);
      if (!after) throw new Error('an upsert gave no row');
      return {
        before: before ? told(before) : null,
        after: { ...told(after), secret: 'replaced' },
        result: after,
      };
    },
  );
};

/**
 * Takes the account in force out of use; the platform's serves the merchant then. Refuses with
 * `not_found`.
 */
const removeAccount = (
  { database }: BankAccountParts,
  acting: Acting,
  key: AccountKey,
): Promise<ShownAccount | Refused> =>
  changeWithAudit(
    database,
    acting,
    { action: 'bank_account.remove', merchantId: key.merchantId, subject: subjectOf(key) },
    async (client) => {
      await run(client, lockMerchant, [key.merchantId]);
      const [removed] = await run<ShownAccount>(client, retire, [
        key.merchantId,
        key.connector,
        key.purpose,
        acting.now(),
      ]);
      return removed
        ? { before: told(removed), after: null, result: removed }
        : refused('not_found', 'there is no such account in force');
    },
  );

const named = (account: ShownAccount | Refused) =>
  isRefused(account) ? account : { __typename: 'BankAccount' as const, ...account };

/** The query about accounts at acquirers. */
export const bankAccountQueries = ({
  database,
}: BankAccountParts): Pick<QueryResolvers, 'bankAccounts'> => ({
  bankAccounts: (_, { merchantId }, { principal }) =>
    run<ShownAccount>(database.pool, list, [merchantOf(principal, merchantId)]),
});

/** The mutations about accounts at acquirers. Each leaves its audit entry. */
export const bankAccountMutations = (
  parts: BankAccountParts,
): Pick<MutationResolvers, 'bankAccountSet' | 'bankAccountRemove'> => ({
  bankAccountSet: async (_, input, context) => named(await setAccount(parts, context, input)),
  bankAccountRemove: async (_, key, context) => named(await removeAccount(parts, context, key)),
});
