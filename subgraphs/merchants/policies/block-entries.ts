/**
 * Block lists as operators and cabinet users keep them (decision D-40). A card's or an account's
 * number goes no further than its fingerprint.
 */
import { randomUUID } from 'node:crypto';
import { isUuid } from '../../kernel/rules/uuid.ts';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import { columns, run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import type { BlockEntry } from '../../kernel/policies/entities.ts';
import { blockValue, blockValueExpected, type BlockKind } from '../../kernel/rules/block.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { allKeys } from '../../kernel/service/access/keys.ts';
import type { Acting } from '../audit.ts';
import { changePolicy, missing, reasonMistake, type PolicyParts } from './change-policy.ts';

/** An entry without what is compared. */
export type BlockEntryRow = Omit<BlockEntry, 'value'>;

const entryColumns = columns(['id', 'merchantId', 'kind', 'shown', 'reason', 'createdAt']);
const known: Statement = {
  name: 'block_entry.known',
  text: `select ${entryColumns} from block_entry where merchant_id is not distinct from $1::uuid and kind = $2 and value = any ($3::text[])`,
};
const insert: Statement = {
  name: 'block_entry.insert',
  text: `insert into block_entry (id, merchant_id, kind, value, shown, reason, created_at) values ($1, $2, $3, $4, $5, $6, $7) returning ${entryColumns}`,
};
const remove: Statement = {
  name: 'block_entry.remove',
  text: `delete from block_entry where id = $1 and merchant_id is not distinct from $2::uuid returning ${entryColumns}`,
};

const told = ({ kind, shown, reason }: BlockEntryRow) => ({ kind, shown, reason });

/**
 * Blocks something for all merchants (`merchantId` null) or for one. Refuses with `not_found`, or a
 * value that is none of its kind with `bad_request`.
 */
export const addBlockEntry = async (
  parts: PolicyParts,
  acting: Acting,
  input: {
    readonly merchantId: string | null;
    readonly kind: BlockKind;
    readonly value: string;
    readonly reason: string;
  },
): Promise<BlockEntryRow | Refused> => {
  const { merchantId, kind, reason } = input;
  const [blocked, ...asBefore] = allKeys(parts.fingerprintKey).map((key) =>
    blockValue(key, kind, input.value),
  );
  if (!blocked) return refused('bad_request', `value: expected ${blockValueExpected[kind]}`);
  const mistake = reasonMistake(reason);
  if (mistake) return mistake;
  const id = randomUUID();
  return changePolicy(
    parts,
    acting,
    { action: 'block_entry.add', merchantId, subject: { kind: 'block_entry', id } },
    async (client) => {
      const gone = merchantId === null ? null : await missing(client, merchantId, null);
      if (gone) return gone;
      const [before] = await run<BlockEntryRow>(client, known, [
        merchantId,
        kind,
        [blocked, ...asBefore].map((one) => one?.value),
      ]);
      const [entry] = before
        ? [before]
        : await run<BlockEntryRow>(client, insert, [
            id,
            merchantId,
            kind,
            blocked.value,
            blocked.shown,
            reason,
            acting.now(),
          ]);
      if (!entry) throw new Error('an insert gave no row');
      return { before: before ? told(before) : null, after: told(entry), result: entry };
    },
  );
};

/** Takes something off the list of all merchants or of one. Refuses with `not_found`. */
export const removeBlockEntry = async (
  parts: PolicyParts,
  acting: Acting,
  { merchantId, id }: { readonly merchantId: string | null; readonly id: string },
): Promise<{ readonly id: string } | Refused> => {
  const gone = refused('not_found', 'there is no such entry on this list');
  if (!isUuid(id)) return gone;
  return changePolicy(
    parts,
    acting,
    { action: 'block_entry.remove', merchantId, subject: { kind: 'block_entry', id } },
    async (client) => {
      const [entry] = await run<BlockEntryRow>(client, remove, [id, merchantId]);
      return entry ? { before: told(entry), after: null, result: { id } } : gone;
    },
  );
};

const list: Statement = {
  name: 'block_entry.list',
  text: `select ${entryColumns} from block_entry where ${behindCursor('created_at', 'id')} and merchant_id is not distinct from $4::uuid
    and ($5::text is null or kind = $5) ${newestFirst('created_at', 'id')}`,
};

/** The list of all merchants (`merchantId` null) or of one, newest first. */
export const listBlockEntries = (
  runner: Runner,
  {
    merchantId,
    kind,
    ...page
  }: PageQuery & { readonly merchantId: string | null; readonly kind: BlockKind | null },
): Promise<Page<BlockEntryRow> | Refused> => readPage(runner, list, [merchantId, kind], page);
