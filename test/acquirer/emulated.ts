/** What an emulated acquirer is to the process that serves it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from './faults.ts';
import type { ReceiptBehaviour } from './register.ts';
import type { Shown } from './page.ts';

/** What can be changed while it runs. */
export interface Behaviour {
  /** Where notifications go that no order names an address for; null: nowhere. */
  readonly callbackUrl: string | null;
  /** Buyers confirm by themselves after so long; null: on the page. */
  readonly confirmAfter_ms: number | null;
  readonly receipts: ReceiptBehaviour;
}

/** What all acquirers of one process share. */
export interface Surroundings {
  /** Where people and programs reach the process. */
  readonly base: string;
  readonly faults: Faults;
  readonly behaviour: () => Behaviour;
  /** Requests, answers and notifications that differ from the description. */
  readonly violations: string[];
}

export interface Emulated {
  /** Answers a call of its API. */
  call(request: IncomingMessage, response: ServerResponse, url: URL, text: string): Promise<void>;
  /** The payment that its page shows; null: it has no such payment. */
  shown(id: string): Shown | null;
  /** What the buyer decides on the page. */
  decide(id: string, decision: 'pay' | 'refuse'): void;
  /** Its books, as lists by kind. */
  books(): Readonly<Record<string, readonly object[]>>;
}

/** JSON, or null when it is none. */
export const readJson = (text: string): any => {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
};
