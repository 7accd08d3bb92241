/** Texts of any size as notifications of PostgreSQL, whose payloads are shorter than 8000 bytes. */
import { randomUUID } from 'node:crypto';

const payload_max_bytes = 7_900;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const chunk_max_units = 2_600;

/**
 * Cuts a text into payloads, each with `<id>/<index>/<count>/` in front. A large message is cut
 * rather than thinned out, so that nobody downstream needs to know two forms of it.
 */
export const cut = (text: string): readonly string[] => {
  const chunks = Buffer.byteLength(text) <= payload_max_bytes - 60 ? [text] : chunksOf(text);
  const id = randomUUID();
  return chunks.map((chunk, index) => `${id}/${index}/${chunks.length}/${chunk}`);
};

const chunksOf = (text: string): readonly string[] => {
  const chunks: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + chunk_max_units, text.length);
    // A chunk does not end within a surrogate pair: alone, half of one cannot be sent.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1)) && to < text.length) to -= 1;
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
};

/**
 * Puts payloads together again: gives the text with its last payload, and null before it or for
 * what is no payload. All payloads of a text are sent in one transaction, so they arrive one after
 * another: whatever is incomplete when another text begins was cut off by a lost connection.
 */
export const openJoin = (): ((payload: string) => string | null) => {
  let current = { id: '', chunks: [] as readonly string[] };
  return (payload) => {
    const [, id, index, count, chunk] =
      /^([0-9a-f-]{36})\/(\d+)\/(\d+)\/(.*)$/s.exec(payload) ?? [];
    if (id === undefined || chunk === undefined) return null;
    const before = current.id === id ? current.chunks : [];
    if (before.length !== Number(index)) return null;
    current = { id, chunks: [...before, chunk] };
    return current.chunks.length === Number(count) ? current.chunks.join('') : null;
  };
};
