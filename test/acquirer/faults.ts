/**
 * How the emulated acquirer misbehaves: by a rate for every call, or once for the next call that
 * fits.
 */
export const faultKinds = [
  'timeout_before',
  'timeout_after',
  'error_before',
  'error_after',
  'closed_before',
  'closed_after',
  'too_many',
  'wrong_amount',
  'wrong_id',
  'slow',
] as const;
export type FaultKind = (typeof faultKinds)[number];

const callbackFaults = ['duplicate', 'reordered', 'lost'] as const;
export type CallbackFault = (typeof callbackFaults)[number];

/** The next call of a method and path (its beginning) has this fault. */
export interface PlannedFault {
  readonly fault: FaultKind;
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

export interface FaultSettings {
  readonly rates?: Readonly<Partial<Record<FaultKind | CallbackFault, number>>>;
  readonly next?: readonly PlannedFault[];
}

/** Numbers from 0 to 1 that a seed repeats, so that a run with faults can be had again. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export interface Faults {
  set(settings: FaultSettings): void;
  /** How many planned faults no call has had yet. */
  planned(): number;
  /** What goes wrong with a call. */
  ofCall(method: string, path: string): FaultKind | null;
  /** What goes wrong with a notification. */
  ofCallback(): CallbackFault | null;
}

export const openFaults = (random: () => number): Faults => {
  let rates: NonNullable<FaultSettings['rates']> = {};
  let next: PlannedFault[] = [];
  const drawn = <Kind extends FaultKind | CallbackFault>(kinds: readonly Kind[]): Kind | null => {
    let left = random();
    for (const kind of kinds) {
      left -= rates[kind] ?? 0;
      if (left < 0) return kind;
    }
    return null;
  };
  return {
    set: (settings) => {
      rates = settings.rates ?? rates;
      next = [...next, ...(settings.next ?? [])];
    },
    planned: () => next.length,
    ofCall: (method, path) => {
      const planned = next.find((fault) => fault.method === method && path.startsWith(fault.path));
      if (!planned) return drawn(faultKinds);
      next = next.filter((fault) => fault !== planned);
      return planned.fault;
    },
    ofCallback: () => drawn(callbackFaults),
  };
};
