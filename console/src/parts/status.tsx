/** A status as a word and a shape, so that it does not depend on colour. */

/** What a status means for the money. */
export type Tone = 'good' | 'part' | 'bad' | 'moving' | 'waiting' | 'over';

const shapes: Readonly<Record<Tone, string>> = {
  good: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z',
  part: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM4 7v2h8V7z',
  bad: 'M3 1.5 8 6.5l5-5L14.5 3l-5 5 5 5-1.5 1.5-5-5-5 5L1.5 13l5-5-5-5z',
  moving: 'M8 1.5a6.5 6.5 0 1 0 0 13v-13zM8 1.5v2a4.5 4.5 0 0 1 0 9v2a6.5 6.5 0 0 0 0-13z',
  waiting: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 2a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  over: 'M1.5 6.75h13v2.5h-13z',
};

/** The tone of every status. */
export const tones = {
  pending: 'waiting',
  processing: 'moving',
  authorized: 'moving',
  succeeded: 'good',
  delivered: 'good',
  registered: 'good',
  failed: 'bad',
  expired: 'over',
  cancelled: 'over',
  partly_refunded: 'part',
  refunded: 'over',
  active: 'good',
  past_due: 'bad',
  paused: 'waiting',
  paid: 'over',
  deactivated: 'over',
} as const satisfies Readonly<Record<string, Tone>>;

/** A status. */
export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span className="status" data-tone={tone}>
    <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[tone]} fillRule="evenodd" />
    </svg>
    {children}
  </span>
);
