import type { Database } from 'better-sqlite3'
import { parsePublicId } from '../../src/core/ids.ts'
import type { Exchange, ExchangeAnswer } from '../../src/core/wire/protocol.ts'
import { STATE_CODE } from '../../src/core/run/run-state.ts'
import { DEFAULT_POLICY } from '../../src/core/run/run-policy.ts'
import type { GroundTruth } from './ground-truth.ts'

const { ready, running, scheduled, blocked, succeeded, failed, cancelled } = STATE_CODE
const CREATED = -1

/** The documented state graph, in state codes. */
const TRANSITIONS: Record<number, readonly number[]> = {
  [CREATED]: [ready, running, scheduled, blocked],
  [ready]: [running, cancelled],
  [running]: [succeeded, failed, cancelled, ready, scheduled],
  [scheduled]: [ready, blocked, cancelled],
  [blocked]: [ready, cancelled],
}

/** Triggers that record every state change of a run, independent of the product's own rows. */
const WATCH = `
  CREATE TEMP TABLE seen (n INTEGER PRIMARY KEY, run_id, was, is_now, fence, result);
  CREATE TEMP TRIGGER watch_insert AFTER INSERT ON run BEGIN
    INSERT INTO seen (run_id, was, is_now, fence) VALUES (NEW.id, ${CREATED}, NEW.status, NEW.fence);
  END;
  CREATE TEMP TRIGGER watch_update AFTER UPDATE OF status ON run WHEN NEW.status IS NOT OLD.status BEGIN
    INSERT INTO seen (run_id, was, is_now, fence, result)
    VALUES (NEW.id, OLD.status, NEW.status, NEW.fence, NEW.result);
  END;`

interface StatusChange {
  n: number
  run_id: number
  was: number
  is_now: number
  fence: number | null
  result: string | null
}

export interface SafetyInvariants {
  /** Checks all safety invariants on the current store. */
  check(): void
  checkVerdicts(message: Exchange, answer: ExchangeAnswer): void
  /** A cancel was acknowledged: no later claim of this run may start. */
  rememberCancel(runId: number): void
}

export function createSafetyInvariants(db: Database, truth: GroundTruth): SafetyInvariants {
  db.exec(WATCH)
  const newRows = db.prepare<[number], StatusChange>('SELECT * FROM seen WHERE n > ? ORDER BY n')
  const fenceOf = db.prepare<[number], { fence: number | null; status: number }>(
    'SELECT fence, status FROM run WHERE id = ?',
  )
  const endedBy = db.prepare<[number, number]>(
    'SELECT 1 FROM attempt WHERE run_id = ? AND fence = ? AND cause IS NOT $lost'.replace(
      '$lost',
      "'lost'",
    ),
  )
  const invariants = INVARIANTS.map(
    ([invariant, sql]) => [invariant, db.prepare<[], { detail: string }>(sql)] as const,
  )
  const leases = db.prepare<[], { id: number; claim_no: number; fence: number }>(
    'SELECT id, claim_no, fence FROM run WHERE status = 1',
  )
  const fences = new Map<number, { claimNo: number; fence: number }>()
  let last = 0
  let starts = 0

  const checkChange = ({ run_id, was, is_now, fence, result }: StatusChange) => {
    if (!TRANSITIONS[was]?.includes(is_now))
      truth.violate('I3 illegal edge', `run ${run_id}: ${was} → ${is_now}`)
    if (is_now === succeeded && result !== null) {
      const reported = (JSON.parse(result) as { fence: number }).fence
      if (reported !== fence) {
        truth.violate('I7 stale outcome accepted', `run ${run_id}: ${reported}, lease ${fence}`)
      }
    }
  }

  const checkFences = () => {
    for (const { id, claim_no: claimNo, fence } of leases.all()) {
      const before = fences.get(id)
      if (before && claimNo > before.claimNo && fence <= before.fence) {
        truth.violate('I6 a fence did not grow', `run ${id}: ${before.fence} → ${fence}`)
      }
      fences.set(id, { claimNo, fence })
    }
  }

  const checkStart = (index: number) => {
    const start = truth.starts[index]
    if (!start) return
    const { runId, fence } = start
    const cancelledAt = truth.cancelled.get(runId)
    if (cancelledAt !== undefined && fence > cancelledAt) {
      truth.violate('I12 started after its cancel', `run ${runId}, fence ${fence}`)
    }
    const isOnce = jobOf(runId)?.startsWith('once')
    if (isOnce && truth.starts.slice(0, index).some((other) => other.runId === runId)) {
      truth.violate('I10 an at-most-once run started twice', `run ${runId}`)
    }
  }

  const runs = db.prepare<[], { id: number; tags: string }>('SELECT id, tags FROM run')
  const job = db.prepare<[number], { name: string }>(
    'SELECT job.name FROM run JOIN job ON job.id = run.job_id WHERE run.id = ?',
  )
  const jobOf = (runId: number) => job.get(runId)?.name

  return {
    check() {
      for (const change of newRows.all(last)) {
        last = change.n
        checkChange(change)
      }
      checkFences()
      for (; starts < truth.starts.length; starts += 1) checkStart(starts)
      for (const [invariant, statement] of invariants) {
        for (const { detail } of statement.all()) truth.violate(invariant, detail)
      }
      checkSubmissions(runs.all(), truth)
    },

    checkVerdicts(message, answer) {
      for (const [index, done] of message.done.entries()) {
        if (answer.verdicts[index] !== 'stale' || done.outcome === 'given_back') continue
        const runId = parsePublicId('run', done.run) as number
        const run = fenceOf.get(runId)
        const isEnding = run && run.status === succeeded && run.fence === done.fence
        if (
          (isEnding && done.outcome === 'succeeded') ||
          (done.outcome === 'failed' && endedBy.get(runId, done.fence))
        ) {
          truth.violate(
            'a repeated completion was called stale',
            `run ${runId}, fence ${done.fence}`,
          )
        }
      }
    },

    rememberCancel(runId) {
      const { fence = null } = fenceOf.get(runId) ?? {}
      if (!truth.cancelled.has(runId))
        truth.cancelled.set(runId, fence ?? fences.get(runId)?.fence ?? 0)
    },
  }
}

/** A run holds its gates while it is ready or running. */
const COUNT_HOLDERS = `
  SELECT count(*) FROM run r, json_each(r.gates) gate WHERE r.status IN (0, 1) AND gate.value = g.id`

const INVARIANTS: readonly (readonly [invariant: string, sql: string])[] = [
  [
    'I9 a gate holds more than its capacity',
    `SELECT 'gate ' || g.name AS detail FROM gate g
     WHERE (${COUNT_HOLDERS}) > g.capacity`,
  ],
  [
    'I9 the count of a gate is not that of the runs that hold it',
    `SELECT 'gate ' || g.name || ' counts ' || g.held AS detail FROM gate g WHERE g.held <> (${COUNT_HOLDERS})`,
  ],
  [
    'I17 a waiting run without a rescue',
    `SELECT 'run ' || id || ' status ' || status AS detail FROM run WHERE
       (status = 2 AND timer_at IS NULL) OR
       (status = 3 AND (recheck_at IS NULL OR gate_id IS NULL)) OR
       (status = 1 AND (node IS NULL OR fence IS NULL OR session IS NULL))`,
  ],
  [
    'I10 more attempts than allowed',
    `SELECT 'run ' || id AS detail FROM run WHERE lost > ${DEFAULT_POLICY.lostMax} OR attempt > 20`,
  ],
  [
    'a run reached a worker under a name it does not know',
    `SELECT 'run ' || id AS detail FROM run WHERE cause = 'start_error'
      UNION ALL SELECT 'run ' || run_id FROM attempt WHERE cause = 'start_error'`,
  ],
  [
    'I4 one submission became several runs',
    `SELECT tags AS detail FROM run GROUP BY tags HAVING count(*) > 1`,
  ],
]

/** I1, I5: an acknowledged run exists; a refused one does not. */
function checkSubmissions(runs: Iterable<{ id: number; tags: string }>, truth: GroundTruth): void {
  const stored = new Map<string, number>()
  for (const row of runs) stored.set(row.tags, row.id)
  for (const [number, record] of truth.submissions) {
    const id = stored.get(JSON.stringify({ n: String(number) }))
    if (record.outcome === 'acknowledged' && id !== record.runId) {
      truth.violate('I1 an acknowledged run is missing', `submission ${number}`)
    }
    if (record.outcome === 'refused' && id !== undefined) {
      truth.violate('I1 a refused run is there', `submission ${number}`)
    }
  }
}
