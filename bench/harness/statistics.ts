/** The smallest value that at least `share` of the values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly count: number
}

export function spread(values: readonly number[]): Spread {
  return {
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    count: values.length,
  }
}
