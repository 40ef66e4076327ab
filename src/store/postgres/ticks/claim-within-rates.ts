import { type Bucket, filled, nextStartAt, type Rate, roomIn } from '../../../core/queue/rate.ts'
import type { ClaimDemand, LimitedLane, RateKey } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { claimRuns, type Claims } from './claim.ts'
import { CLOCK, type Work } from '../connection/statement.ts'

/** Whoever locks a bucket decides alone until it commits; the clock is read by the next statement. */
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
 * As `claimRuns`, for demands of which some belong to queues with a rate: each gets what its bucket
 * has, and the buckets are filled by what was found. Three round trips more than without.
 */
export async function claimWithinRates(
  work: Work,
  now: number | null,
  node: number,
  demands: readonly ClaimDemand[],
): Promise<LimitedClaims> {
  const keys = [...new Map(demands.flatMap(({ rate }) => (rate ? [[nameOf(rate), rate]] : [])))]
  const rows = await work.query<BucketRow>(LOCK_BUCKETS, namesIn(keys.map(([, key]) => key)))
  const [clock] = await work.query<{ now: number }>(READ_CLOCK, [now])
  const at = clock!.now
  const rooms = new Map(rows.map((row) => [nameOf(row), roomIn(row, row, at)]))
  const allowed = demands.map(({ rate, sessions }) => {
    const name = rate && nameOf(rate)
    const room = name === undefined ? undefined : rooms.get(name)
    if (name === undefined || room === undefined) return sessions.length
    const count = Math.min(room, sessions.length)
    // Given to the demands in their order: what one does not find is not there for the next, this time.
    rooms.set(name, room - count)
    return count
  })
  const cut = demands.map((demand, index) => ({
    ...demand,
    sessions: demand.sessions.slice(0, allowed[index]),
  }))
  const claims = await claimRuns(work, now, node, cut)
  const found = (name: string) =>
    demands.reduce((sum, { rate }, index) => {
      const isOurs = rate !== undefined && nameOf(rate) === name
      return isOurs ? sum + (claims.leases[index]?.length ?? 0) : sum
    }, 0)
  const after = new Map(
    rows.map((row) => [nameOf(row), { ...row, ...filled(row, row, at, found(nameOf(row))) }]),
  )
  await fillBuckets(work, [...after.values()])
  const limited = demands.flatMap(({ laneId, rate, sessions }, index) => {
    const bucket = rate && after.get(nameOf(rate))
    const wasCut = (allowed[index] ?? 0) < sessions.length
    const ranDry = (claims.leases[index]?.length ?? 0) < (allowed[index] ?? 0)
    if (!bucket || !wasCut || ranDry) return []
    return [{ laneId, until: nextStartAt(bucket, bucket, at) }]
  })
  return { ...claims, limited }
}

async function fillBuckets(work: Work, rows: readonly BucketRow[]): Promise<void> {
  if (rows.length === 0) return
  await work.query(FILL, [
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
