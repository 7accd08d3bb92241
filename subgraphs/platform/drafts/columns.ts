/** What the tables of drafts have in common: who proposed and decided, their lists, their checks. */
import { p } from '@mikro-orm/core';
import { InstantType } from '../database/instant.ts';
import type { RefusalCode } from '../../rules/refusal.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

/** The columns of a proposal and its decision. */
export const draftColumns = () => ({
  /** The proposer's subject. */
  createdBy: p.text(),
  createdAt: instant(),
  expiresAt: instant(),
  /** The person who approved or rejected it; null while pending and when it expired. */
  decidedBy: p.text().nullable(),
  decidedAt: instant().nullable(),
  rejectReason: p.text().nullable(),
  /** The refusal of the last approval. */
  refusalCode: p.text().$type<RefusalCode>().nullable(),
  refusalMessage: p.text().nullable(),
  refusedAt: instant().nullable(),
});

const pending = "status = 'pending'";

interface DraftIndex {
  readonly name: string;
  readonly properties: (
    | 'merchantId'
    | 'shopId'
    | 'mode'
    | 'status'
    | 'createdAt'
    | 'expiresAt'
    | 'id'
  )[];
  readonly where?: string;
}

/** The indexes of the lists, of the count of pending drafts, and of those that expire. */
export const draftIndexes = (table: string): DraftIndex[] => [
  {
    name: `${table}_registry`,
    properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'],
  },
  {
    name: `${table}_filter`,
    properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
  },
  { name: `${table}_newest`, properties: ['mode', 'createdAt', 'id'] },
  { name: `${table}_pending`, properties: ['merchantId', 'mode'], where: pending },
  { name: `${table}_ends`, properties: ['expiresAt'], where: pending },
];

/** The checks of amount, status and decision: no person approves their own proposal. */
export const draftChecks = (table: string) => [
  { name: `${table}_amount`, expression: 'amount >= 1 and amount <= 9007199254740991' },
  {
    name: `${table}_status`,
    expression:
      "status = any (array['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text])",
  },
  {
    name: `${table}_decided`,
    expression: "(status = 'pending'::text) = (decided_at is null)",
  },
  {
    name: `${table}_two`,
    expression: "status <> 'approved'::text or decided_by <> created_by",
  },
];
