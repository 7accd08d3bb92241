/**
 * Processes rows of several merchants, one merchant at a time: a statement names one merchant, so
 * it runs on one shard. Almost always all rows belong to one merchant.
 */

/**
 * Calls `work` for the rows of each merchant, one merchant after another. Returns all results in
 * the order of the merchants' first rows.
 */
export const eachMerchant = async <Row extends { readonly merchantId: string }, Result>(
  rows: readonly Row[],
  work: (rows: readonly Row[], merchantId: string) => Promise<readonly Result[]>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (const [merchantId, own] of Map.groupBy(rows, (row) => row.merchantId))
    results.push(...(await work(own, merchantId)));
  return results;
};
