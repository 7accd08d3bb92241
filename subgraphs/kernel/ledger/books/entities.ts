/** Where the walks over the books stand. */
import { defineEntity, p } from '@mikro-orm/core';
import { InstantType } from '../../database/instant.ts';
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

export const booksEntities = [BooksWalkEntity, BooksAsideEntity];
