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
  },
});

export const booksEntities = [BooksWalkEntity];
