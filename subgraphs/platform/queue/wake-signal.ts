/**
 * A signal for one waiting loop. A signal that arrives while the loop does not wait is kept and
 * ends the next wait at once.
 */
export class WakeSignal {
  #woken = false;
  #end = (): void => {};

  /** Whether it was woken since the last wait ended. */
  get woken(): boolean {
    return this.#woken;
  }

  wake(): void {
    this.#woken = true;
    this.#end();
  }

  /**
   * Resolves at the next signal, or after `most_ms` milliseconds when present; returns whether
   * there was a signal.
   */
  async wait(most_ms?: number): Promise<boolean> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const timer = most_ms === undefined ? undefined : setTimeout(resolve, most_ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const woken = this.#woken;
    this.#woken = false;
    return woken;
  }
}
