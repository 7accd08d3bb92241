/** The lines of a registry as the graph takes them: in parts that each fit a request. */
import type { RegistryLine } from './read-registry.ts';

const header = 'reference,operation_id,kind,amount,currency,status,at,fee';
/** A request holds 256 KiB; a line of a registry is some 170 bytes. */
const part_max_bytes = 200 * 1_024;
const part_max_lines = 1_400;

const textOf = (line: RegistryLine): string =>
  [
    line.reference,
    line.operationId,
    line.kind,
    line.amount,
    line.currency,
    line.status,
    line.at,
    line.fee,
  ].join(',');

/** The parts, each with the header; none for a registry without lines. */
export const partsOf = (lines: readonly RegistryLine[]): readonly string[] => {
  const parts: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  const close = (): void => {
    if (part.length > 0) parts.push([header, ...part].join('\n'));
    part = [];
    bytes = header.length;
  };
  for (const text of lines.map(textOf)) {
    // Outside ASCII a character takes two or more bytes: three is the most of those in use.
    const size = text.length * 3;
    if (part.length >= part_max_lines || bytes + size > part_max_bytes) close();
    part.push(text);
    bytes += size;
  }
  close();
  return parts;
};

/** Identifies the lines: the same ones are the same run, and continue where it stopped. */
export const referenceOf = async (name: string, parts: readonly string[]): Promise<string> => {
  const bytes = new TextEncoder().encode(parts.join('\n'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${name.slice(0, 60)} ${hex.slice(0, 32)}`;
};
