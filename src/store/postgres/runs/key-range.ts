/**
 * A range of an index between two ids, newest first. Both the bounds and the order are whole keys.
 * To the planner, `project_id = …` in order of id is answered just as well by the primary key,
 * which reads the runs of all projects; no index other than the intended one has this order. The
 * plain bounds of ids only exclude weeks.
 */
export function keyRange(
  /** Columns of the index, the id last. */
  key: readonly string[],
  /** Values of the columns before the id. */
  values: readonly string[],
  { before, from }: { before: string; from: string },
): { readonly where: string; readonly order: string } {
  const id = key.at(-1)
  return {
    where: `(${key.join()}) < (${[...values, before].join()})
        AND (${key.join()}) >= (${[...values, from].join()})
        AND ${id} < ${before} AND ${id} >= ${from}`,
    order: key.map((column) => `${column} DESC`).join(),
  }
}

/**
 * For the transaction that reads a page. The planner assumes so few rows that reading all of them
 * and sorting seems cheap. With an index in the order of the page there is nothing to sort.
 */
export const KEEP_INDEX_ORDER = { name: '', text: 'SET LOCAL enable_sort = off' }
