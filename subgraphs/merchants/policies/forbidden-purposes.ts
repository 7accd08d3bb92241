/** Operators maintain forbidden purposes: words that no description may contain. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage } from '../../kernel/database/find-page.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Page, PageQuery } from '../../kernel/database/page.ts';
import { ForbiddenWordEntity, type ForbiddenWord } from '../../kernel/policies/entities.ts';
import { forbiddenWord } from '../../kernel/rules/purpose.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Acting } from '../audit.ts';
import { changePolicy, reasonMistake, type PolicyParts } from './change-policy.ts';

/** Forbids a word. Refuses other texts with `bad_request`. */
export const forbidPurpose = async (
  parts: PolicyParts,
  acting: Acting,
  input: { readonly word: string; readonly reason: string },
): Promise<ForbiddenWord | Refused> => {
  const word = forbiddenWord(input.word);
  if (word === null)
    return refused(
      'bad_request',
      'word: expected up to 200 characters with a letter or a digit, and * only at the end',
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
    async (em) => {
      const known = await em.findOne(ForbiddenWordEntity, { word });
      if (known) return known;
      const { reason } = input;
      return em.create(ForbiddenWordEntity, { id, word, reason, createdAt: acting.now() });
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
    async (em) => {
      const word = await em.findOne(ForbiddenWordEntity, { id });
      if (!word) return gone;
      em.remove(word);
      return { id };
    },
  );
};

/** All forbidden words, newest first. */
export const listForbiddenPurposes = (
  em: EntityManager,
  page: PageQuery,
): Promise<Page<ForbiddenWord> | Refused> => {
  const bound = ['forbidden_word.list', []] as const;
  return findPage(em, { entity: ForbiddenWordEntity, at: 'createdAt', where: {}, bound }, page);
};
