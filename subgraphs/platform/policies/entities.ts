/**
 * The operator's policies: blocked callers and values, and currency rates. Small tables, which
 * every process caches in memory.
 */
import { defineEntity, p, Type, type InferEntity } from '@mikro-orm/core';
import { instant } from '../database/instant.ts';
import type { Row } from '../database/statement.ts';
import type { BlockKind } from '../../rules/block.ts';
import { plainRate } from '../../rules/money.ts';

/**
 * One row. It grows with every change of a policy, in the change's own transaction; its lock lets
 * one change through at a time.
 */
export const PolicyVersionEntity = defineEntity({
  name: 'PolicyVersion',
  tableName: 'policy_version',
  properties: {
    name: p.text().primary(),
    version: p.bigint(),
  },
});

/** Something that is refused, for all merchants or for one. */
export const BlockEntryEntity = defineEntity({
  name: 'BlockEntry',
  tableName: 'block_entry',
  properties: {
    id: p.uuid().primary(),
    /** Null: all merchants. */
    merchantId: p.uuid().strictNullable(),
    kind: p.text().$type<BlockKind>().groups('audit'),
    /** A keyed fingerprint of a card or an account; the value itself of the others. */
    value: p.text().hidden(),
    /** What people may see of it: the last 4 characters of a card or an account. */
    shown: p.text().groups('audit'),
    reason: p.text().groups('audit'),
    createdAt: instant(),
  },
});
export type BlockEntry = Row<InferEntity<typeof BlockEntryEntity>>;

/** A word that no description may hold. */
export const ForbiddenWordEntity = defineEntity({
  name: 'ForbiddenWord',
  tableName: 'forbidden_word',
  properties: {
    id: p.uuid().primary(),
    /** In lower case; `*` at its end stands for any ending. */
    word: p.text().groups('audit'),
    reason: p.text().groups('audit'),
    createdAt: instant(),
  },
});
export type ForbiddenWord = Row<InferEntity<typeof ForbiddenWordEntity>>;

/** An exact decimal, as text without trailing zeros. */
class RateType extends Type<string, string> {
  override convertToJSValue(value: string): string {
    return plainRate(value);
  }

  override getColumnType(): string {
    return 'numeric(21,12)';
  }
}

/** What one unit of a currency is worth in USDT from a moment on. */
export const ExchangeRateEntity = defineEntity({
  name: 'ExchangeRate',
  tableName: 'exchange_rate',
  properties: {
    id: p.uuid().primary(),
    /** ISO 4217. */
    currency: p.text(),
    usdt: p.type(RateType).$type<string>().groups('audit'),
    since: instant(),
  },
});
export type ExchangeRate = Row<InferEntity<typeof ExchangeRateEntity>>;

export const policiesEntities = [
  PolicyVersionEntity,
  BlockEntryEntity,
  ForbiddenWordEntity,
  ExchangeRateEntity,
];
