/**
 * Ids of rows that come in large numbers: payments and their rows, events, postings, deliveries.
 * They have the form of a UUIDv4. The first 48 bits are the time, so that the rows of one moment
 * share the pages of an index; the other 74 bits are random. Do not use them for ids that grant
 * access (a link, a session, a secret).
 */
import { hash, randomUUID } from 'node:crypto';

/** A new id; `at_ms` is the machine's time in milliseconds since 1970, never a test clock's. */
export const newRowId = (at_ms: number = Date.now()): string => {
  const time = at_ms.toString(16).padStart(12, '0');
  // Joined, for the reason that `rfc3339` has.
  return [time.slice(0, 8), time.slice(8), randomUUID().slice(14)].join('-');
};

/** An id that follows from a text: a UUIDv8 of its SHA-256. */
export const idFrom = (text: string): string =>
  hash('sha256', text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
