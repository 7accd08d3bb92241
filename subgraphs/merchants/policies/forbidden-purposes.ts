/**
 * Forbidden purposes as operators keep them: words that no description may hold (decision D-40).
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
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { ForbiddenWordEntity, type ForbiddenWord } from '../../kernel/policies/entities.ts';
import { forbiddenWord } from '../../kernel/rules/purpose.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Acting } from '../audit.ts';
import { changePolicy, reasonMistake, type PolicyParts } from './change-policy.ts';

const wordColumns = columns(propertyNames(ForbiddenWordEntity));
const known: Statement = {
  name: 'forbidden_word.known',
  text: `select ${wordColumns} from forbidden_word where word = $1`,
};
const insert: Statement = {
  name: 'forbidden_word.insert',
  text: `insert into forbidden_word (id, word, reason, created_at) values ($1, $2, $3, $4) returning ${wordColumns}`,
};
const remove: Statement = {
  name: 'forbidden_word.remove',
  text: `delete from forbidden_word where id = $1 returning ${wordColumns}`,
};

const told = ({ word, reason }: ForbiddenWord) => ({ word, reason });

/** Forbids a word. Refuses with `bad_request` what is no word. */
export const forbidPurpose = async (
  parts: PolicyParts,
  acting: Acting,
  input: { readonly word: string; readonly reason: string },
): Promise<ForbiddenWord | Refused> => {
  const word = forbiddenWord(input.word);
  if (word === null)
    return refused(
      'bad_request',
      'word: expected up to 200 characters with a letter or a digit, and no * but at the end',
    );
  const mistake = reasonMistake(input.reason);
  if (mistake) return mistake;
  const id = randomUUID();
  return changePolicy(
    parts,
    acting,
    {
      action: 'forbidden_purpose.add',
      merchantId: null,
      subject: { kind: 'forbidden_purpose', id },
    },
    async (client) => {
      const [before] = await run<ForbiddenWord>(client, known, [word]);
      const [added] = before
        ? [before]
        : await run<ForbiddenWord>(client, insert, [id, word, input.reason, acting.now()]);
      if (!added) throw new Error('an insert gave no row');
      return { before: before ? told(before) : null, after: told(added), result: added };
    },
  );
};

/** Allows a word again. Refuses with `not_found`. */
export const allowPurpose = async (
  parts: PolicyParts,
  acting: Acting,
  id: string,
): Promise<{ readonly id: string } | Refused> => {
  const gone = refused('not_found', 'there is no such forbidden purpose');
  if (!isUuid(id)) return gone;
  return changePolicy(
    parts,
    acting,
    {
      action: 'forbidden_purpose.remove',
      merchantId: null,
      subject: { kind: 'forbidden_purpose', id },
    },
    async (client) => {
      const [word] = await run<ForbiddenWord>(client, remove, [id]);
      return word ? { before: told(word), after: null, result: { id } } : gone;
    },
  );
};

const list: Statement = {
  name: 'forbidden_word.list',
  text: `select ${wordColumns} from forbidden_word where ${behindCursor('created_at', 'id')} ${newestFirst('created_at', 'id')}`,
};

/** All forbidden words, newest first. */
export const listForbiddenPurposes = (
  runner: Runner,
  page: PageQuery,
): Promise<Page<ForbiddenWord> | Refused> => readPage(runner, list, [], page);
