/** What a delivery sends, and whose secret signs it: in SQL, and as the attempt is given it. */
import type { SignatureFormat } from './rules.ts';

/** What is sent, and whose secret signs it. */
export interface Message {
  readonly body: string;
  readonly secretSealed: string;
  /** The secret before a rotation, while the two overlap. */
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat;
}

/** The message as columns. */
export interface MessageRow {
  readonly body: string | null;
  readonly secretSealed: string | null;
  readonly previousSealed: string | null;
  readonly signature: SignatureFormat | null;
}

/** The row with its message as one; null when the event or the endpoint is gone. */
export const withMessage = <Row extends object>({
  body,
  secretSealed,
  previousSealed,
  signature,
  ...row
}: Row & MessageRow): Omit<Row, keyof MessageRow> & { readonly message: Message | null } => ({
  ...row,
  message:
    body !== null && secretSealed !== null
      ? { body, secretSealed, previousSealed, signature: signature ?? 'v2' }
      : null,
});

/**
 * SQL: joins `endpoint` and `signing` to the deliveries called `delivery`. An endpoint's address,
 * secret and format are those of now, so that a correction and a rotation reach what is still on
 * its way. A payment's own address is signed as the shop's oldest active endpoint is, or else with
 * the shop's own secret.
 */
export const joinSigning = (delivery: string, merchant = `${delivery}.merchant_id`): string => `
    left join shop on shop.merchant_id = ${merchant} and shop.id = ${delivery}.shop_id
    left join webhook_endpoint as endpoint on endpoint.merchant_id = ${merchant} and endpoint.id = ${delivery}.endpoint_id and endpoint.active
    left join lateral (
      select endpoint.secret_sealed, endpoint.previous_secret_sealed as previous_sealed, endpoint.previous_until, endpoint.signature
      where endpoint.id is not null
      union all
      (select secret_sealed, previous_secret_sealed, previous_until, signature from webhook_endpoint as candidate
      where ${delivery}.endpoint_id is null and candidate.merchant_id = ${merchant} and candidate.shop_id = ${delivery}.shop_id and candidate.active
      order by created_at, id limit 1)
      union all
      select shop.webhook_secret_sealed, shop.previous_webhook_secret_sealed, shop.previous_webhook_until, null where ${delivery}.endpoint_id is null
      limit 1
    ) as signing on true`;

/** SQL: the columns of a message but for its body, at the moment `now`. */
export const signingColumns = (now: string): string =>
  `signing.secret_sealed as "secretSealed", case when signing.previous_until > ${now} then signing.previous_sealed end as "previousSealed", signing.signature`;
