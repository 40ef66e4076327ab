/** Limits requests per caller: a rate per second, and a burst. */
export interface RateLimit {
  /** Returns the seconds to wait, or 0 to continue. */
  take(key: string | number, nowMono: number): number
  /** The seconds to wait, or 0, without taking anything. */
  waitS(key: string | number, nowMono: number): number
}

interface Bucket {
  left: number
  atMono: number
}

/** Beyond this number of callers, those with a full bucket are dropped. */
const MOST_BUCKETS = 10_000

/** One token bucket per caller: quiet callers may send bursts. */
export function createRateLimit(perSecond: number, burst: number): RateLimit {
  const buckets = new Map<string | number, Bucket>()

  const refill = (bucket: Bucket, nowMono: number) => {
    const seconds = (nowMono - bucket.atMono) / 1_000
    bucket.left = Math.min(burst, bucket.left + seconds * perSecond)
    bucket.atMono = nowMono
  }

  return {
    take(key, nowMono) {
      let bucket = buckets.get(key)
      if (!bucket) {
        if (buckets.size >= MOST_BUCKETS) forgetFull(buckets, burst, (one) => refill(one, nowMono))
        bucket = { left: burst, atMono: nowMono }
        buckets.set(key, bucket)
      }
      refill(bucket, nowMono)
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perSecond)
      bucket.left -= 1
      return 0
    },
    waitS(key, nowMono) {
      const bucket = buckets.get(key)
      if (!bucket) return 0
      refill(bucket, nowMono)
      return bucket.left < 1 ? Math.ceil((1 - bucket.left) / perSecond) : 0
    },
  }
}

/**
 * A full bucket equals a new one. If none is full, all buckets are dropped, so that no caller
 * suffers from others.
 */
function forgetFull(
  buckets: Map<string | number, Bucket>,
  burst: number,
  refill: (bucket: Bucket) => void,
): void {
  for (const [key, bucket] of buckets) {
    refill(bucket)
    if (bucket.left >= burst) buckets.delete(key)
  }
  if (buckets.size >= MOST_BUCKETS) buckets.clear()
}
