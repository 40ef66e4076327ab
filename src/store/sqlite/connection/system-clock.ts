/** Wall time: the one place where this store reads it. Rows and timers use it, leases never. */
export const systemNow = (): number => Date.now()
