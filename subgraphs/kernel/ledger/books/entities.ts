/** Where the walks over the books stand. */
import { defineEntity, p } from '@mikro-orm/core';
import { InstantType } from '../../database/instant.ts';
import type { Account } from '../../rules/postings.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Walk } from './check.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

export const BooksWalkEntity = defineEntity({
  name: 'BooksWalk',
  tableName: 'books_walk',
  properties: {
    /** The table that is walked. */
    name: p.text().$type<Walk>().primary(),
    /** The key of the last row that was checked. */
    atMerchantId: p.uuid(),
    atId: p.uuid(),
    /** When the next range is checked; while one is, when another process may take it over. */
    dueAt: instant(),
    passBeganAt: instant().nullable(),
    /**
     * When the last pass over the whole table began that has ended: everything older has been
     * checked.
     */
    checkedAt: instant().nullable(),
    /** Rows of the last pass, about; null before its end. */
    rows: p.bigint().nullable(),
    /** Rows that this pass has seen. */
    passRows: p.bigint().nullable(),
    /** Ranges that were one merchant's alone, one after the other. */
    merchantRanges: p.integer().nullable(),
    /** How long a pass takes at its present rate. */
    passSeconds: p.integer().name('pass_s').nullable(),
  },
});

/** The rest of a merchant with so many rows that the others do not wait for it. */
export const BooksAsideEntity = defineEntity({
  name: 'BooksAside',
  tableName: 'books_aside',
  properties: {
    name: p.text().$type<Walk>().primary(),
    atMerchantId: p.uuid().primary(),
    atId: p.uuid(),
    dueAt: instant(),
    /** When the pass over the table began from which it was left. */
    passBeganAt: instant(),
  },
});

/** From where a merchant's balances are proved, and how far the next sums are counted. */
const BalanceProof = defineEntity({
  name: 'BalanceProof',
  tableName: 'balance_proof',
  properties: {
    merchantId: p.uuid().primary(),
    /** Of the sums that are complete; the next one's are being counted. 0: none is. */
    generation: p.integer(),
    /** The last posting in the sums is no later than this id. */
    upTo: p.uuid().nullable(),
    provedAt: instant().nullable(),
    /** How far the next generation is counted; null while none is. */
    countedTo: p.uuid().nullable(),
    /** Up to where it will be; null before it comes there. */
    countsUpTo: p.uuid().nullable(),
  },
});

/** The sums of a merchant's postings by account. */
const BalanceCheckpoint = defineEntity({
  name: 'BalanceCheckpoint',
  tableName: 'balance_checkpoint',
  properties: {
    merchantId: p.uuid().primary(),
    generation: p.integer().primary(),
    shopId: p.uuid().primary(),
    mode: p.text().$type<Mode>().primary(),
    currency: p.text().primary(),
    account: p.text().$type<Account>().primary(),
    amount: p.bigint(),
  },
});

export const booksEntities = [BooksWalkEntity, BooksAsideEntity, BalanceProof, BalanceCheckpoint];
