/** Counts requests per caller: so many a second, and so many at once. */
export interface RateLimit {
  /** How many seconds to wait, or 0 to go ahead. */
  take(key: string | number, nowMono: number): number
}

interface Bucket {
  left: number
  atMono: number
}

/** Beyond this many callers those who have not been here for long are forgotten. */
const MOST_BUCKETS = 10_000

/** A bucket per caller that fills by itself: calm callers may come in bursts. */
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
  }
}

/** A full bucket is as good as a new one. If none is full, all are: nobody is punished for others. */
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
