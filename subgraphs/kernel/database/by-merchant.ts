/**
 * Rows of several merchants, worked merchant by merchant: a statement names one merchant, so that
 * one shard runs it. Nearly always all rows are of one.
 */

/**
 * Calls `work` for the rows of each merchant, one merchant after another, and gives all that it
 * gave, in the order of the merchants' first rows.
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
