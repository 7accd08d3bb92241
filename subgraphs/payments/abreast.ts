/** Work on many payments at the same time, where one that fails must not keep the others waiting. */

/** Does `work` for every item, up to `most` at once. Rejects at the end with what failed, when all others are done. */
export const abreast = async <Item>(items: readonly Item[], most: number, work: (item: Item) => Promise<unknown>): Promise<void> => {
  const left = items.values();
  const failures: unknown[] = [];
  const take = async (): Promise<void> => {
    for (const item of left) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, take));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${items.length} failed`);
};
