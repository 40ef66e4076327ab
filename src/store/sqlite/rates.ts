import type { Database } from 'better-sqlite3'
import { type Bucket, filled, nextStartAt, type Rate, roomIn } from '../../core/rate.ts'
import type { ClaimDemand, Lease, LimitedLane, RateKey } from '../port.ts'
import type { Claim } from './claim.ts'
import type { TickState } from './tick-state.ts'

export const BUCKET = `
  SELECT rate_limit AS "limit", rate_per_ms AS perMs, rate_burst AS burst,
         rate_level AS level, rate_at AS at
    FROM queue WHERE project_id = ? AND name = ? AND rate_limit IS NOT NULL`
export const FILL = `
  UPDATE queue SET rate_level = ?, rate_at = ? WHERE project_id = ? AND name = ?`

type BucketRow = Rate & Bucket

/** Claims of one tick, each within the rate of its queue as it is in this transaction. */
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
    tick: TickState,
  ): Lease[] => {
    const { laneId, sessions } = demand
    const bucket = find.get(projectId, queue)
    if (!bucket) return claim(demand, tick)
    const room = roomIn(bucket, bucket, tick.now)
    const leases = room > 0 ? claim({ ...demand, sessions: sessions.slice(0, room) }, tick) : []
    const after = filled(bucket, bucket, tick.now, leases.length)
    if (leases.length > 0) fill.run(after.level, after.at, projectId, queue)
    if (leases.length === room && room < sessions.length) {
      limited.push({ laneId, until: nextStartAt(bucket, after, tick.now) })
    }
    return leases
  }

  return (demands, tick) => {
    const limited: LimitedLane[] = []
    const claims = demands.map((demand) =>
      demand.rate ? claimWithin(demand, demand.rate, limited, tick) : claim(demand, tick),
    )
    return { claims, limited }
  }
}
