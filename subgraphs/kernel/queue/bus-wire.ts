/** What carries texts to every process that has it open, this one too. */
export interface Wire {
  /** Fulfils when the text is on its way, rejects when it is not. */
  readonly send: (channel: string, text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface WireOptions {
  readonly channels: readonly string[];
  readonly receive: (channel: string, text: string) => void;
  readonly began: (error: unknown) => void;
  readonly ended: () => void;
}
