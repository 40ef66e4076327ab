import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../core/run-state.ts'
import type { NewRun, SubmitVerdict } from '../port.ts'
import { FIRST_RECHECK_MS } from './admit.ts'
import type { Keys } from './keys.ts'
import { noteTimer, type TickState } from './tick-state.ts'

export const INSERT_RUN = `
  INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                   claim_no, fence, node, session, due_at, timer_at, gate_id, recheck_at, started_at,
                   timeout_ms, retry_of, gates, dedupe_key, policy, tags, input)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/** Most runs ask for nothing special; binding a value costs as much as writing it, even a null. */
const PLAIN_COLUMNS = `id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                   timeout_ms, policy, input`
export const INSERT_PLAIN_READY = `
  INSERT INTO run (${PLAIN_COLUMNS}) VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`
export const INSERT_PLAIN_LEASE = `
  INSERT INTO run (${PLAIN_COLUMNS}, claim_no, node, started_at, fence, session)
  VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

export const MINTED_BY = `SELECT minted_by FROM run WHERE id = ?`

export type Submit = (run: NewRun, tick: TickState) => SubmitVerdict

export function prepareSubmit(db: Database, keys: Keys): Submit {
  const insert = db.prepare<unknown[]>(INSERT_RUN)
  const insertPlain = prepareInsertPlain(db)
  const mintedBy = db.prepare<[number], number>(MINTED_BY).pluck()

  return (run, tick) => {
    if (run.idempotency !== null || run.dedupeKey !== null) {
      // A repeat of this very run meets its own keys: that is not a duplicate.
      if (mintedBy.get(run.id) === tick.node) return { kind: 'exists' }
      const earlier = keys.find(run, tick.now)
      if (earlier) return earlier
    }
    const inserted = isPlain(run) ? insertPlain(run, tick) : insertAny(insert, run, tick)
    if (!inserted) return { kind: mintedBy.get(run.id) === tick.node ? 'exists' : 'collision' }
    keys.take(run)
    return { kind: 'inserted' }
  }
}

function isPlain(run: NewRun): boolean {
  return (
    run.dueAt === null &&
    run.gates.length === 0 &&
    run.tags === null &&
    run.dedupeKey === null &&
    run.retryOf === null
  )
}

function prepareInsertPlain(db: Database): (run: NewRun, tick: TickState) => boolean {
  const ready = db.prepare<unknown[]>(INSERT_PLAIN_READY)
  const lease = db.prepare<unknown[]>(INSERT_PLAIN_LEASE)
  return (run, { now, node }) => {
    const { id, projectId, jobId, laneId, rank, timeoutMs, policy, input, handOff } = run
    const { changes } = handOff
      ? lease.run(
          id,
          projectId,
          jobId,
          laneId,
          rank,
          id,
          node,
          now,
          timeoutMs,
          policy,
          input,
          node,
          now,
          handOff.fence,
          handOff.session,
        )
      : ready.run(id, projectId, jobId, laneId, rank, id, node, now, timeoutMs, policy, input)
    return changes === 1
  }
}

function insertAny(insert: Statement<unknown[]>, run: NewRun, tick: TickState): boolean {
  const { now } = tick
  const timerAt = run.dueAt !== null && run.dueAt > now ? run.dueAt : null
  const gate = timerAt === null ? (run.gates[0] ?? null) : null
  const handOff = timerAt === null && gate === null ? run.handOff : null
  const { changes } = insert.run(
    run.id,
    statusOf(timerAt, gate, handOff),
    run.projectId,
    run.jobId,
    run.laneId,
    run.rank,
    run.id,
    tick.node,
    now,
    handOff ? 1 : 0,
    handOff ? handOff.fence : null,
    handOff ? tick.node : null,
    handOff ? handOff.session : null,
    run.dueAt,
    timerAt,
    gate,
    gate === null ? null : now + FIRST_RECHECK_MS,
    handOff ? now : null,
    run.timeoutMs,
    run.retryOf,
    run.gates.length > 0 ? JSON.stringify(run.gates) : null,
    run.dedupeKey,
    run.policy,
    run.tags,
    run.input,
  )
  if (changes === 0) return false
  if (timerAt !== null) noteTimer(tick, timerAt)
  if (gate !== null) tick.touched.add(gate)
  return true
}

function statusOf(timerAt: number | null, gate: number | null, handOff: NewRun['handOff']): number {
  if (timerAt !== null) return STATE_CODE.scheduled
  if (gate !== null) return STATE_CODE.blocked
  return handOff ? STATE_CODE.running : STATE_CODE.ready
}
