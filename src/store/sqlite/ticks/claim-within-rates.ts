import type { Database } from 'better-sqlite3'
import {
  type Bucket,
  fillBucket,
  nextStartAt,
  type Rate,
  availableStarts,
} from '../../../core/queue/rate.ts'
import type { ClaimDemand, Lease, LimitedLane, RateKey } from '../../port.ts'
import type { Claim } from './claim.ts'
import type { TickState } from '../tick-state/tick-state.ts'

export const BUCKET = `
  SELECT rate_limit AS "limit", rate_per_ms AS perMs, rate_burst AS burst,
         rate_level AS level, rate_at AS at
    FROM queue WHERE project_id = ? AND name = ? AND rate_limit IS NOT NULL`
export const FILL = `
  UPDATE queue SET rate_level = ?, rate_at = ? WHERE project_id = ? AND name = ?`

type BucketRow = Rate & Bucket

/** The claims of one tick, each within the rate of its queue as of this transaction. */
export type ClaimAll = (
  demands: readonly ClaimDemand[],
  tick: TickState,
) => { claims: Lease[][]; limited: LimitedLane[] }

export function prepareClaims(db: Database, claim: Claim): ClaimAll {
  const find = db.prepare<[number, string], BucketRow>(BUCKET)
  const fill = db.prepare(FILL)

  const claimWithin = (
    demand: ClaimDemand,
    { projectId, queue }: RateKey,
    limited: LimitedLane[],
    claimed: (demand: ClaimDemand) => Lease[],
    now: number,
  ): Lease[] => {
    const { laneId, sessions } = demand
    const bucket = find.get(projectId, queue)
    if (!bucket) return claimed(demand)
    const freeStarts = availableStarts(bucket, bucket, now)
    const leases =
      freeStarts > 0 ? claimed({ ...demand, sessions: sessions.slice(0, freeStarts) }) : []
    const after = fillBucket(bucket, bucket, now, leases.length)
    // Records a clock that was set back, or the wait would restart until the clock is past the last
    // start.
    const isChanged = leases.length > 0 || after.at < bucket.at
    if (isChanged) fill.run(after.level, after.at, projectId, queue)
    if (leases.length === freeStarts && freeStarts < sessions.length) {
      limited.push({ laneId, until: nextStartAt(bucket, after, now) })
    }
    return leases
  }

  return (demands, tick) => {
    const limited: LimitedLane[] = []
    const isAlone = new Set(demands.map(({ laneId }) => laneId)).size === demands.length
    const claimed = (demand: ClaimDemand) => claim(demand, tick, isAlone)
    const claims = demands.map((demand) =>
      demand.rate ? claimWithin(demand, demand.rate, limited, claimed, tick.now) : claimed(demand),
    )
    return { claims, limited }
  }
}
