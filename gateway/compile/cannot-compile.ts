/**
 * An operation or a plan holds something that is not compiled; the operation then runs on the stock
 * executor.
 */
export class CannotCompile extends Error {
  constructor(what: string) {
    super(`not compiled: ${what}`);
    this.name = 'CannotCompile';
  }
}
