/** Splits a registry's file into parts for the graph: each has the header and fits a request. */

/** A request holds 256 KiB; a line of a registry is some 170 bytes. */
const part_max_bytes = 200 * 1_024;
const part_max_lines = 1_400;

/** The parts; empty when the file has no lines below its header. */
export const partsOfFile = (text: string): readonly string[] => {
  const [header = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const parts: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  const close = (): void => {
    if (part.length > 0) parts.push([header, ...part].join('\n'));
    part = [];
    bytes = header.length;
  };
  for (const line of lines) {
    if (line.trim() === '') continue;
    // Outside ASCII a character takes two or more bytes: three is the most of those in use.
    const size = line.length * 3;
    if (part.length >= part_max_lines || bytes + size > part_max_bytes) close();
    part.push(line);
    bytes += size;
  }
  close();
  return parts;
};

/** Identifies the file: the same file is the same run, and continues where it stopped. */
export const referenceOf = async (name: string, text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return `${name.slice(0, 60)} ${hex.join('').slice(0, 32)}`;
};
