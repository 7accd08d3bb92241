/**
 * The sample configurations of `subgraphs/platform/fleet/`, with the addresses of a test in place of
 * theirs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const samples = join(import.meta.dirname, '../../subgraphs/platform/fleet');

/**
 * Reads a sample and puts `with[name]` in place of each `name`. Throws when a name does not occur:
 * the sample says something else by now.
 */
export const readSample = (file: string, replaced: ReadonlyMap<string, string>): string => {
  let text = readFileSync(join(samples, file), 'utf8');
  for (const [name, address] of replaced) {
    if (!text.includes(name)) throw new Error(`${file} does not have ${name}`);
    text = text.replaceAll(name, address);
  }
  return text;
};
