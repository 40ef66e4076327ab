/** The delay after `failures` consecutive failures: doubles each time, up to a maximum. */
export function exponentialBackoffMs(
  firstMs: number,
  failures: number,
  longestMs = Infinity,
): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 60))
}
