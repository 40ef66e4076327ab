import {
  type Bucket,
  fillBucket,
  nextStartAt,
  type Rate,
  availableStarts,
} from '../../../core/queue/rate.ts'
import type { ClaimDemand, LimitedLane, RateKey } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { claimRuns, type Claims } from './claim.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'

/**
 * The transaction that locks a bucket decides alone until it commits; the next statement reads the
 * clock.
 */
const LOCK_BUCKETS = {
  name: 'lock-buckets',
  text: `
  SELECT project_id AS "projectId", name AS queue, rate_limit AS "limit", rate_per_ms AS "perMs",
         rate_burst AS burst, rate_level AS level, rate_at AS at
    FROM queue JOIN unnest($1::int[], $2::text[]) AS item (project_id, name)
         USING (project_id, name)
   WHERE rate_limit IS NOT NULL
   ORDER BY project_id, name COLLATE "C" FOR UPDATE OF queue`,
}
const READ_CLOCK = { name: 'read-clock-in-tick', text: `WITH ${CLOCK} SELECT now FROM clock` }
const FILL = {
  name: 'fill-buckets',
  text: `
  UPDATE queue SET rate_level = level, rate_at = at
    FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[])
      AS item (project_id, name, level, at)
   WHERE queue.project_id = item.project_id AND queue.name = item.name`,
}

interface BucketRow extends Rate, Bucket, RateKey {}

export interface LimitedClaims extends Claims {
  readonly limited: readonly LimitedLane[]
}

/**
 * Like `claimRuns`, when some demands belong to queues with a rate: each gets what its bucket
 * allows, and the buckets are charged for what was found. Takes three more round trips.
 */
export async function claimWithinRates(
  tx: Queryable,
  now: number | null,
  node: number,
  demands: readonly ClaimDemand[],
): Promise<LimitedClaims> {
  const keys = [...new Map(demands.flatMap(({ rate }) => (rate ? [[nameOf(rate), rate]] : [])))]
  const rows = await tx.query<BucketRow>(LOCK_BUCKETS, namesIn(keys.map(([, key]) => key)))
  const [clock] = await tx.query<{ now: number }>(READ_CLOCK, [now])
  const at = clock!.now
  const startsOf = new Map(rows.map((row) => [nameOf(row), availableStarts(row, row, at)]))
  const allowed = demands.map(({ rate, sessions }) => {
    const name = rate && nameOf(rate)
    const freeStarts = name === undefined ? undefined : startsOf.get(name)
    if (name === undefined || freeStarts === undefined) return sessions.length
    const count = Math.min(freeStarts, sessions.length)
    // Assigned to the demands in order: what one does not use is not available to the next in this
    // tick.
    startsOf.set(name, freeStarts - count)
    return count
  })
  const cut = demands.map((demand, index) => ({
    ...demand,
    sessions: demand.sessions.slice(0, allowed[index]),
  }))
  const claims = await claimRuns(tx, now, node, cut)
  const found = (name: string) =>
    demands.reduce((sum, { rate }, index) => {
      const isOurs = rate !== undefined && nameOf(rate) === name
      return isOurs ? sum + (claims.leases[index]?.length ?? 0) : sum
    }, 0)
  const after = new Map(
    rows.map((row) => [nameOf(row), { ...row, ...fillBucket(row, row, at, found(nameOf(row))) }]),
  )
  await fillBuckets(tx, [...after.values()])
  const limited = demands.flatMap(({ laneId, rate, sessions }, index) => {
    const bucket = rate && after.get(nameOf(rate))
    const wasCut = (allowed[index] ?? 0) < sessions.length
    const ranDry = (claims.leases[index]?.length ?? 0) < (allowed[index] ?? 0)
    if (!bucket || !wasCut || ranDry) return []
    return [{ laneId, until: nextStartAt(bucket, bucket, at) }]
  })
  return { ...claims, limited }
}

async function fillBuckets(tx: Queryable, rows: readonly BucketRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(FILL, [
    ...namesIn(rows),
    bigints(rows.map(({ level }) => level)),
    bigints(rows.map(({ at }) => at)),
  ])
}

function namesIn(keys: readonly RateKey[]): unknown[] {
  return [ints(keys.map(({ projectId }) => projectId)), texts(keys.map(({ queue }) => queue))]
}

function nameOf({ projectId, queue }: RateKey): string {
  return `${projectId}/${queue}`
}
