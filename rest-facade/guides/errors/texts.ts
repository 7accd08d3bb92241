/** What a table of codes says in one language. A code without an entry does not compile. */
import type { WebhookEvent } from '../../../subgraphs/rules/event.ts';
import type { FailureCode } from '../../../subgraphs/rules/failure-code.ts';
import type { ErrorCode } from '../../refusal-http.ts';

/** Why a code comes, and what to do then. */
type CauseAndCure = readonly [cause: string, cure: string];

export interface CodeTexts {
  readonly heads: {
    readonly code: string;
    readonly cause: string;
    readonly cure: string;
    readonly kind: string;
    readonly event: string;
    readonly says: string;
    readonly call: string;
    readonly object: string;
    readonly beside: string;
  };
  /** How a scheduled charge continues after a failure of the class. */
  readonly kinds: Readonly<Record<'soft' | 'hard' | 'buyer' | 'technical', string>>;
  readonly errors: Readonly<Record<ErrorCode, CauseAndCure>>;
  readonly failures: Readonly<Record<FailureCode, string>>;
  readonly events: Readonly<Record<WebhookEvent, string>>;
}
