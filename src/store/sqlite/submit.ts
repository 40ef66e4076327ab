import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../core/run-state.ts'
import type { NewRun, SubmitVerdict } from '../port.ts'
import { FIRST_RECHECK_MS } from './admit.ts'
import { prepareBulk } from './bulk.ts'
import type { Keys } from './keys.ts'
import { noteTimer, type TickState } from './tick-state.ts'

export const INSERT_RUN = `
  INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                   claim_no, fence, node, session, due_at, timer_at, gate_id, recheck_at, started_at,
                   timeout_ms, retry_of, gates, dedupe_key, policy, tags, input)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/** Most runs ask for nothing special; binding a value costs as much as writing it, even a null. */
const PLAIN = `id, project_id, job_id, lane_id, rank, timeout_ms, policy, input`
const PLAIN_WIDTH = 8
export const insertReady = (rows: string) => `
  INSERT INTO run (status, minted_by, created_at, pos, ${PLAIN})
  SELECT 0, ?, ?, column1, * FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
export const insertLeased = (rows: string) => `
  INSERT INTO run (status, minted_by, created_at, node, started_at, claim_no, pos, ${PLAIN}, fence, session)
  SELECT 1, ?, ?, ?, ?, 1, column1, * FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`

export const MINTED_BY = `SELECT minted_by FROM run WHERE id = ?`

const INSERTED: SubmitVerdict = { kind: 'inserted' }

export type Submits = (runs: readonly NewRun[], tick: TickState) => SubmitVerdict[]

export function prepareSubmits(db: Database, keys: Keys): Submits {
  const insert = db.prepare<unknown[]>(INSERT_RUN)
  const mintedBy = db.prepare<[number], number>(MINTED_BY).pluck()
  const bulkReady = prepareBulk(db, PLAIN_WIDTH, insertReady)
  const bulkLeased = prepareBulk(db, PLAIN_WIDTH + 2, insertLeased)

  const submit = (run: NewRun, tick: TickState): SubmitVerdict => {
    if (run.idempotency !== null || run.dedupeKey !== null) {
      // A repeat of this very run meets its own keys: that is not a duplicate.
      if (mintedBy.get(run.id) === tick.node) return { kind: 'exists' }
      const earlier = keys.find(run, tick.now)
      if (earlier) return earlier
    }
    if (!insertAny(insert, run, tick)) {
      return { kind: mintedBy.get(run.id) === tick.node ? 'exists' : 'collision' }
    }
    keys.take(run)
    if (run.handOff && run.dedupeKey !== null) tick.holding.add(run.id)
    return INSERTED
  }

  return (runs, tick) => {
    if (!tick.inBulk) return runs.map((run) => submit(run, tick))
    const ready: unknown[] = []
    const leased: unknown[] = []
    const verdicts = runs.map((run) => {
      if (!isPlain(run)) return submit(run, tick)
      const { id, projectId, jobId, laneId, rank, timeoutMs, policy, input, handOff } = run
      const values = handOff ? leased : ready
      values.push(id, projectId, jobId, laneId, rank, timeoutMs, policy, input)
      if (handOff) values.push(handOff.fence, handOff.session)
      return INSERTED
    })
    const { now, node } = tick
    bulkReady([node, now], ready)
    bulkLeased([node, now, node, now], leased)
    return verdicts
  }
}

function isPlain(run: NewRun): boolean {
  return (
    run.dueAt === null &&
    run.gates.length === 0 &&
    run.tags === null &&
    run.dedupeKey === null &&
    run.idempotency === null &&
    run.retryOf === null
  )
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
