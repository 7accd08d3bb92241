/**
 * A column of an hour is a bigint, and a thousand payments of the largest amount are more than that
 * holds. So each amount is counted in two parts (decision A-321): what is left of it behind whole
 * units of 2^36 in the row of its kind, and the units in a row of their own, whose kind ends in
 * `_large` and which counts nothing else. Both are sums, of 134 million facts an hour at least; a
 * total is the one and 2^36 times the other, whichever way an amount was counted.
 */

/** Minor units: more than 687 million roubles. Seldom is one amount as large. */
export const largeUnit = 2n ** 36n;

export const largeEnd = '_large';

/** SQL: the kind of a row without the mark of large amounts. */
export const kindOf = (kind: string): string => `replace(${kind}, '${largeEnd}', '')`;

/** SQL: how much a row's amounts are worth; `kind` is the row's. */
export const unitOf = (kind: string): string =>
  `(case when ${kind} like '%\\${largeEnd}' then ${largeUnit} else 1 end)::numeric`;

/**
 * SQL: the two parts of the rows of `from`, of which each gives `sign`, a kind and these amounts;
 * `counted` is the sign in the first part. Rows without large amounts have no second.
 */
export const splitAmounts = (
  from: string,
  { others, amounts }: { readonly others: readonly string[]; readonly amounts: readonly string[] },
): string => {
  const each = (operator: '%' | '/'): string =>
    amounts.map((amount) => `${from}.${amount} ${operator} ${largeUnit}`).join(', ');
  return `select ${from}.sign, part.counted, ${from}.kind || part.kind_end as kind,
      ${others.map((name) => `${from}.${name}`).join(', ')},
      ${amounts.map((amount) => `part.${amount}`).join(', ')}
    from ${from} cross join lateral (values ('', ${from}.sign, ${each('%')}),
      ('${largeEnd}', 0, ${each('/')})) as part (kind_end, counted, ${amounts.join(', ')})
    where part.kind_end = '' or greatest(${amounts.map((amount) => `part.${amount}`).join(', ')}) > 0`;
};
