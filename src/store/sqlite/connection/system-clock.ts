/** Wall time: the only place where this store reads it. Rows and timers use it, leases never. */
export const systemNow = (): number => Date.now()

/** Milliseconds of a monotonic clock, which cannot be set. */
export function mono(): number {
  return performance.now()
}
