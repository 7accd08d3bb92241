/**
 * An operation or a plan contains something that is not compiled. The operation then runs on the
 * stock executor.
 */
export class CannotCompile extends Error {
  constructor(what: string) {
    super(`not compiled: ${what}`);
    this.name = 'CannotCompile';
  }
}
