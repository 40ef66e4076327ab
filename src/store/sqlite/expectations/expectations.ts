import type { Database } from 'better-sqlite3'
import { VIOLATION_CODE, violationKindOfCode } from '../../../core/expectation/violation.ts'
import { VIOLATION_EVENT_BIT } from '../../../core/webhook/webhook.ts'
import type {
  ExpectationRecord,
  ViolationRecord,
  ExpectationStore,
  CheckedExpectation,
} from '../../port.ts'
import type { NewExpectation } from '../../port.ts'
import { ADD_EVENT } from '../webhooks/outbox.ts'
import type { Sync } from '../connection/sync.ts'

const COLUMNS = `run_id AS runId, version, look_at AS checkAt, terms`
export const NEXT_EXPECTATION = `SELECT look_at FROM expectation ORDER BY look_at LIMIT 1`
export const DUE_EXPECTATIONS = `
  SELECT ${COLUMNS} FROM expectation WHERE look_at <= ? ORDER BY look_at LIMIT ?`
export const EXPECTATION_OF = `SELECT ${COLUMNS} FROM expectation WHERE run_id = ?`
export const VIOLATIONS_OF = `
  SELECT run_id AS runId, kind, due_at AS dueAt, at FROM lapse WHERE run_id = ?`
const ADD_EXPECTATION = `
  INSERT INTO expectation (run_id, project_id, job_id, version, look_at, terms)
  VALUES (?, ?, ?, 1, ?, ?)`
const RETURNING = `RETURNING project_id AS projectId, job_id AS jobId`
export const ADVANCE_EXPECTATION = `
  UPDATE expectation SET version = version + 1, look_at = ?, terms = ?
   WHERE run_id = ? AND version = ? ${RETURNING}`
export const END_EXPECTATION = `
  DELETE FROM expectation WHERE run_id = ? AND version = ? ${RETURNING}`
const ADD_VIOLATION = `INSERT OR IGNORE INTO lapse (run_id, kind, due_at, at) VALUES (?, ?, ?, ?)`
export const SUBSCRIBED_EVENTS = `SELECT events FROM outbox_wish WHERE project_id = ?`

interface Moved {
  readonly projectId: number
  readonly jobId: number
}

export type AddExpectations = (expected: readonly NewExpectation[]) => void

/** Runs in the transaction that creates the runs. */
export function prepareAddExpectations(db: Database): AddExpectations {
  const add = db.prepare(ADD_EXPECTATION)
  return (expected) => {
    for (const { run, checkAt, terms } of expected) {
      add.run(run.id, run.projectId, run.jobId, checkAt, terms)
    }
  }
}

export type SettleExpectations = (seen: readonly CheckedExpectation[], now: number) => number[]

export function prepareSettleExpectations(db: Database): SettleExpectations {
  const move = db.prepare<unknown[], Moved>(ADVANCE_EXPECTATION)
  const end = db.prepare<unknown[], Moved>(END_EXPECTATION)
  const addViolation = db.prepare(ADD_VIOLATION)
  const subscribed = db.prepare<[number], number>(SUBSCRIBED_EVENTS).pluck()
  const addEvent = db.prepare(ADD_EVENT)

  const settle = (
    { runId, version, violations, remaining }: CheckedExpectation,
    now: number,
  ): boolean => {
    const moved = remaining
      ? move.get(remaining.checkAt, remaining.terms, runId, version)
      : end.get(runId, version)
    if (!moved) return false
    const { projectId, jobId } = moved
    for (const { kind, dueAt } of violations) {
      const isNew = addViolation.run(runId, VIOLATION_CODE[kind], dueAt, now).changes > 0
      const bit = VIOLATION_EVENT_BIT[kind]
      if (!isNew || ((subscribed.get(projectId) ?? 0) & bit) === 0) continue
      addEvent.run(runId, projectId, jobId, bit, null, now)
    }
    return true
  }

  return (seen, now) => seen.filter((one) => settle(one, now)).map(({ runId }) => runId)
}

export function prepareExpectationQueries(
  db: Database,
): Sync<Omit<ExpectationStore, 'settleExpectations'>> {
  const next = db.prepare<[], number>(NEXT_EXPECTATION).pluck()
  const due = db.prepare<[number, number], ExpectationRecord>(DUE_EXPECTATIONS)
  const ofRun = db.prepare<[number], ExpectationRecord>(EXPECTATION_OF)
  const violations = db.prepare<[number], Omit<ViolationRecord, 'kind'> & { kind: number }>(
    VIOLATIONS_OF,
  )
  return {
    nextExpectationAt: () => next.get() ?? null,
    dueExpectations: ({ until, limit }) => due.all(until, limit),
    expectationsOf: (runIds) => runIds.flatMap((runId) => ofRun.get(runId) ?? []),
    violationsOf: (runIds) =>
      runIds
        .flatMap((runId) => violations.all(runId))
        .map((row): ViolationRecord => ({ ...row, kind: violationKindOfCode(row.kind) }))
        .toSorted((a, b) => a.dueAt - b.dueAt),
  }
}
