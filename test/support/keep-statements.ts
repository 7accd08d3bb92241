/**
 * Loaded first in each process of the service, and of the tests: keeps what the ORM sends, one text
 * of each shape, when the run gathers it (TEST_LOGS names the folder). No file of the program names
 * these statements, so only a run finds them.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Has Node load this file first. */
export const keepingStatements: readonly string[] = ['--import', import.meta.url];

/** A statement without its values, aliases, columns and order. */
export const shapeOf = (text: string): string =>
  text
    .replaceAll(/'(?:[^']|'')*'|\$\d+|\b\d+\b/g, '?')
    .replaceAll(/"[a-z]\d+"\.|"| as "[a-z]\d+"/g, '')
    .replace(/^select .*? from /s, 'select from ')
    .replaceAll(/\?(?:::uuid)?(?:, \?(?:::uuid)?)+/g, '?, ?')
    .replaceAll(/\(\?, \?\)(?:, \(\?, \?\))+/g, '(?, ?), (?, ?)')
    .replace(/ (?:order by|returning) .*?(?= for update|$)/s, '');

/** The ORM quotes the names of tables; the statements of tests and of BullMQ do not. */
const isOfOrm = (query: unknown): query is string =>
  typeof query === 'string' &&
  /^(?:select\b.*?\bfrom|insert into|update|delete from) "(?!mikro_orm|bullmq)\w+"/s.test(query);

const keepIn = (folder: string): void => {
  const kept = new Set<string>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function send(this: pg.Client, ...given: unknown[]) {
    const [text] = given;
    const shape = isOfOrm(text) ? shapeOf(text) : '';
    if (shape !== '' && !kept.has(shape)) {
      kept.add(shape);
      appendFileSync(join(folder, `${process.pid}.statements`), `${JSON.stringify(text)}\n`);
    }
    return Reflect.apply(query, this, given) as unknown;
  } as typeof query;
};

if (process.env['TEST_LOGS']) keepIn(process.env['TEST_LOGS']);
