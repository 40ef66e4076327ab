import { fenceOf, SALT_RANGE } from '../../../core/run/fence.ts'
import type { ClaimDemand, Lease } from '../../port.ts'
import { bigints, ints, smallints } from '../connection/binary-arrays.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'

export interface Claims {
  readonly now: number
  /** One list per demand. */
  readonly leases: readonly (readonly Lease[])[]
}

/** Sorts before every position a run can have. */
const LANE_START = { rank: -(2 ** 15 - 1), pos: -1 }

/**
 * A run whose last attempt failed is assigned from the other end of the demand (`avoids`), to get a
 * different session if there is one. One index range per lane, in index order; rows that another
 * tick is taking are skipped. A row of `ready` is never updated, so its address stays valid until
 * we delete it. The specs are fetched one by one with a LIMIT, which keeps the planner from joining
 * all of history with a handful of rows, however empty history was when it made the plan.
 */
export const CLAIM = {
  name: 'claim',
  rowMode: 'array' as const,
  text: `
  WITH ${CLOCK},
  demand AS (
    SELECT * FROM unnest($3::int[], $4::smallint[], $5::bigint[], $6::int[], $7::int[], $10::bigint[])
      AS t (lane_id, floor_rank, floor_pos, wanted, first_slot, last_session)),
  picked AS MATERIALIZED (
    SELECT demand.lane_id, front.*,
           (first_slot + abs(CASE WHEN avoids THEN wanted + 1 ELSE 0 END - row_number() OVER (
             PARTITION BY demand.lane_id, avoids ORDER BY rank, pos, run_id)))::int AS slot
      FROM demand CROSS JOIN LATERAL (
        SELECT ready.ctid AS place, rank, pos, run_id, attempt, lost, claim_no + 1 AS claim_no,
               coalesce(avoid <> last_session, false) AS avoids
          FROM ready
         WHERE ready.lane_id = demand.lane_id AND (rank, pos) > (floor_rank, floor_pos)
         ORDER BY rank, pos
         LIMIT demand.wanted
           FOR UPDATE SKIP LOCKED) front),
  deleted AS (
    DELETE FROM ready WHERE ctid = ANY (ARRAY(SELECT place FROM picked))),
  taken AS MATERIALIZED (
    SELECT picked.*, spec.*
      FROM picked CROSS JOIN LATERAL (
        SELECT project_id, job_id, created_at, due_at, timeout_ms, policy, version, work, input,
               gates, dedupe_key IS NOT NULL AS keyed
          FROM run WHERE run.id = picked.run_id LIMIT 1) spec),
  leased AS (
    INSERT INTO lease (run_id, fence, node, session, project_id, lane_id, rank, pos,
                       attempt, lost, claim_no, started_at, gates, keyed)
    SELECT run_id, claim_no * ${SALT_RANGE} + ($9::int[])[slot], $2::int, ($8::bigint[])[slot],
           project_id, lane_id, rank, pos, attempt, lost, claim_no, now, gates, keyed
      FROM taken CROSS JOIN clock)
  SELECT now, slot, run_id, rank, pos, attempt, lost, claim_no, project_id, job_id,
         created_at, due_at, timeout_ms, policy, input, version, work
    FROM clock LEFT JOIN taken ON true ORDER BY rank, pos, run_id`,
}

type ClaimedRow = [
  now: number,
  /** Null in the only row of a claim that found nothing. */
  slot: number | null,
  runId: number,
  rank: number,
  pos: number,
  attempt: number,
  lost: number,
  claimNo: number,
  projectId: number,
  jobId: number,
  createdAt: number,
  dueAt: number | null,
  timeoutMs: number | null,
  policy: string | null,
  input: string | null,
  version: number | null,
  work: string | null,
]

/** A slot in the order of assignment: its session, salt and demand. */
interface ClaimSlot {
  readonly demand: number
  readonly laneId: number
  readonly session: number
  readonly salt: number
}

interface LaneDemand {
  readonly laneId: number
  readonly floor: { readonly rank: number; readonly pos: number }
  readonly firstSlot: number
  readonly wanted: number
  /** The session at the other end, for runs that failed elsewhere; null if demands share lanes. */
  readonly lastSession: number | null
}

/** Throws synchronously when a value cannot be sent, like `insertRuns`. */
export function claimRuns(
  tx: Queryable,
  now: number | null,
  node: number,
  demands: readonly ClaimDemand[],
): Promise<Claims> {
  const { lanes, slots } = toSlots(demands)
  const answer = tx.query<ClaimedRow>(CLAIM, [
    now,
    node,
    ints(lanes.map(({ laneId }) => laneId)),
    smallints(lanes.map(({ floor }) => floor.rank)),
    bigints(lanes.map(({ floor }) => floor.pos)),
    ints(lanes.map(({ wanted }) => wanted)),
    ints(lanes.map(({ firstSlot }) => firstSlot)),
    bigints(slots.map(({ session }) => session)),
    ints(slots.map(({ salt }) => salt)),
    bigints(lanes.map(({ lastSession }) => lastSession)),
  ])
  return reportedElsewhere(answer.then((rows) => assignRows(rows, slots, demands.length, node)))
}

function assignRows(
  rows: readonly ClaimedRow[],
  slots: readonly ClaimSlot[],
  demands: number,
  node: number,
): Claims {
  const leases: Lease[][] = Array.from({ length: demands }, () => [])
  for (const row of rows) {
    if (row[1] === null) break
    const taken = slots[row[1] - 1]!
    leases[taken.demand]!.push(toLease(row, taken, node))
  }
  return { now: rows[0]![0], leases }
}

/** Demands for the same lane become one lane demand, assigned to the first demand first. */
function toSlots(demands: readonly ClaimDemand[]): { lanes: LaneDemand[]; slots: ClaimSlot[] } {
  const byLane = Map.groupBy(demands.keys(), (index) => demands[index]!.laneId)
  const isShared = byLane.size < demands.length
  const slots: ClaimSlot[] = []
  const lanes: LaneDemand[] = []
  for (const [laneId, indexes] of byLane) {
    const firstSlot = slots.length
    for (const index of indexes) {
      const { sessions, salts } = demands[index]!
      for (const [nth, session] of sessions.entries()) {
        slots.push({ demand: index, laneId, session, salt: salts[nth]! })
      }
    }
    const floor = lowestFloor(indexes.map((index) => demands[index]!))
    const lastSession = isShared ? null : (slots[slots.length - 1]?.session ?? null)
    lanes.push({ laneId, floor, firstSlot, wanted: slots.length - firstSlot, lastSession })
  }
  return { lanes, slots }
}

function lowestFloor(demands: readonly ClaimDemand[]): { rank: number; pos: number } {
  return demands
    .map(({ floor }) => floor ?? LANE_START)
    .reduce((low, one) => ((one.rank - low.rank || one.pos - low.pos) < 0 ? one : low))
}

function toLease(row: ClaimedRow, { laneId, session, salt }: ClaimSlot, node: number): Lease {
  return {
    runId: row[2],
    fence: fenceOf(row[7], salt),
    node,
    session,
    projectId: row[8],
    jobId: row[9],
    laneId,
    rank: row[3],
    pos: row[4],
    attempt: row[5],
    lost: row[6],
    cancelling: false,
    startedAt: row[0],
    createdAt: row[10],
    dueAt: row[11],
    timeoutMs: row[12],
    policy: row[13],
    version: row[15],
    work: row[16],
    input: row[14],
  }
}
