/** The code that Node, PostgreSQL or a bank's connection gives an error; '' without one. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
