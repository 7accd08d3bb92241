/**
 * The statements that the ORM made during a run, and whether each names the merchant whose rows it
 * reads or writes, as those written by hand do (`database/merchant-rule`).
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModule } from 'libpg-query';
import { copied, distributed } from '../database/distribution.ts';
import { breachesOf } from '../database/merchant-rule.ts';
import { ormOverAll } from '../database/over-all-merchants.ts';
import { shapeOf } from './keep-statements.ts';

export interface Found {
  readonly shapes: number;
  /** Shapes that name no merchant, and are not in the list of reads that need none. */
  readonly broken: readonly string[];
  /** What is in that list, and no process sent. */
  readonly unsent: readonly string[];
}

/** Looks at everything that was kept. */
export const readStatements = async (folder: string): Promise<Found> => {
  await loadModule();
  const texts = globSync(join(folder, '*.statements'))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => String(JSON.parse(line)));
  const byShape = new Map(texts.map((text) => [shapeOf(text), text]));
  const broken: string[] = [];
  const sent = new Set<string>();
  for (const [shape, text] of byShape) {
    const breaches = breachesOf(text, { distributed, copied });
    if (breaches.length === 0) continue;
    const beginning = Object.keys(ormOverAll).find((one) => shape.startsWith(one));
    if (beginning === undefined || breaches.some(({ why }) => why !== 'read of all merchants'))
      broken.push(shape);
    else sent.add(beginning);
  }
  const unsent = Object.keys(ormOverAll).filter((one) => !sent.has(one));
  return { shapes: byShape.size, broken, unsent };
};
