/**
 * The content security policy of a page: scripts and everything else come from this service alone.
 * `changes` are directives that differ.
 */
export const contentPolicy = (changes: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'font-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    ...changes,
  })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
