/** Raising an alert: in the transaction of what gives rise to it, or by itself. */
import { noteListChange } from '../database/list-changes.ts';
import { run, type Runner, type Statement } from '../database/statement.ts';
import { alertKinds, type AlertFields, type AlertKind } from '../../rules/alert.ts';
import { maskCardNumbers } from '../../rules/card.ts';
import type { Mode } from '../../rules/mode.ts';
import { platformMerchantId } from '../../rules/ids.ts';

/** Something that a person must look at. */
export interface RaisedAlert {
  readonly kind: AlertKind;
  /** Null: it is about the platform itself. */
  readonly merchantId: string | null;
  readonly shopId: string | null;
  readonly mode: Mode | null;
  /** What it is about; with the kind and the merchant it is unique. */
  readonly subjectId: string;
  /**
   * What was found, in words that a person can act on; no secrets. A card number in it is masked.
   */
  readonly detail: string;
  /** The same for programs; a card number in a value is masked. */
  readonly fields: AlertFields;
  readonly at: Temporal.Instant;
}

const raise: Statement = {
  name: 'alert.raise',
  text: `insert into alert (merchant_id, id, kind, shop_id, mode, subject_id, detail, raised_at, fields) values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $9)
    on conflict (merchant_id, kind, subject_id) do update set shop_id = excluded.shop_id, mode = excluded.mode, detail = excluded.detail, fields = excluded.fields,
      raised_at = excluded.raised_at, told_at = null, posted_at = null, mailed_at = null, resolved_at = null, resolved_by = null, note = null, assignee = null
    where $8::boolean and alert.resolved_at is not null
    returning 1`,
};

const masked = (fields: AlertFields): AlertFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskCardNumbers(value)]));

/**
 * Raises an alert unless the same one was raised before; a state that was resolved and is found
 * again is raised anew. Gives whether it is a new one. One statement: it takes part in the
 * transaction of `runner` when that is in one. A job publishes it to operators within a second of
 * the commit.
 */
export const raiseAlert = async (
  runner: Runner,
  { kind, merchantId, shopId, mode, subjectId, detail, fields, at }: RaisedAlert,
): Promise<boolean> => {
  const values = [
    merchantId ?? platformMerchantId,
    kind,
    shopId,
    mode,
    subjectId,
    maskCardNumbers(detail),
    at,
    alertKinds[kind] === 'state',
    masked(fields),
  ];
  const isNew = (await run(runner, raise, values)).length > 0;
  if (isNew) noteListChange(runner, { list: 'alerts', merchantId });
  return isNew;
};
