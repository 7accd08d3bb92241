/** The frame of the pages around the reference: texts in the frame of the guides. */

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text as HTML shows it. */
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>]/g, (character) => escapes[character] ?? character);

/** A code block; it can be reached by the keyboard, since it may have to be scrolled. */
export const codeBlock = (text: string): string =>
  `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;

/** Headers of a file that belongs to one of them. */
export const fileHeaders = (cacheControl: string): Readonly<Record<string, string>> => ({
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': cacheControl,
  'content-type': 'text/plain; charset=utf-8',
});
