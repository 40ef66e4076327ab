import type { Database } from 'better-sqlite3'
import { LAPSE_CODE, lapseOfCode } from '../../../core/expectation/violation.ts'
import { BIT_OF_LAPSE } from '../../../core/webhook/webhook.ts'
import type { ExpectationRecord, LapseRecord, LapseStore, SeenExpectation } from '../../port.ts'
import type { NewExpectation } from '../../settle-schedule.ts'
import { ADD_EVENT } from '../webhooks/outbox.ts'
import type { Sync } from '../operations/operations.ts'

const COLUMNS = `run_id AS runId, version, look_at AS lookAt, terms`
export const NEXT_EXPECTATION = `SELECT look_at FROM expectation ORDER BY look_at LIMIT 1`
export const DUE_EXPECTATIONS = `
  SELECT ${COLUMNS} FROM expectation WHERE look_at <= ? ORDER BY look_at LIMIT ?`
export const EXPECTATION_OF = `SELECT ${COLUMNS} FROM expectation WHERE run_id = ?`
export const LAPSES_OF = `
  SELECT run_id AS runId, kind, due_at AS dueAt, at FROM lapse WHERE run_id = ?`
const ADD_EXPECTATION = `
  INSERT INTO expectation (run_id, project_id, job_id, version, look_at, terms)
  VALUES (?, ?, ?, 1, ?, ?)`
const RETURNING = `RETURNING project_id AS projectId, job_id AS jobId`
export const MOVE_EXPECTATION = `
  UPDATE expectation SET version = version + 1, look_at = ?, terms = ?
   WHERE run_id = ? AND version = ? ${RETURNING}`
export const END_EXPECTATION = `
  DELETE FROM expectation WHERE run_id = ? AND version = ? ${RETURNING}`
const ADD_LAPSE = `INSERT OR IGNORE INTO lapse (run_id, kind, due_at, at) VALUES (?, ?, ?, ?)`
export const WISHED = `SELECT events FROM outbox_wish WHERE project_id = ?`

interface Moved {
  readonly projectId: number
  readonly jobId: number
}

export type AddExpectations = (expected: readonly NewExpectation[]) => void

/** In the transaction that makes their runs. */
export function prepareAddExpectations(db: Database): AddExpectations {
  const add = db.prepare(ADD_EXPECTATION)
  return (expected) => {
    for (const { run, lookAt, terms } of expected) {
      add.run(run.id, run.projectId, run.jobId, lookAt, terms)
    }
  }
}

export type SettleExpectations = (seen: readonly SeenExpectation[], now: number) => number[]

export function prepareSettleExpectations(db: Database): SettleExpectations {
  const move = db.prepare<unknown[], Moved>(MOVE_EXPECTATION)
  const end = db.prepare<unknown[], Moved>(END_EXPECTATION)
  const addLapse = db.prepare(ADD_LAPSE)
  const wished = db.prepare<[number], number>(WISHED).pluck()
  const addEvent = db.prepare(ADD_EVENT)

  const settle = ({ runId, version, lapses, left }: SeenExpectation, now: number): boolean => {
    const moved = left ? move.get(left.lookAt, left.terms, runId, version) : end.get(runId, version)
    if (!moved) return false
    const { projectId, jobId } = moved
    for (const { kind, dueAt } of lapses) {
      const isNew = addLapse.run(runId, LAPSE_CODE[kind], dueAt, now).changes > 0
      const bit = BIT_OF_LAPSE[kind]
      if (!isNew || ((wished.get(projectId) ?? 0) & bit) === 0) continue
      addEvent.run(runId, projectId, jobId, bit, null, now)
    }
    return true
  }

  return (seen, now) => seen.filter((one) => settle(one, now)).map(({ runId }) => runId)
}

export function prepareLapseQueries(db: Database): Sync<Omit<LapseStore, 'settleExpectations'>> {
  const next = db.prepare<[], number>(NEXT_EXPECTATION).pluck()
  const due = db.prepare<[number, number], ExpectationRecord>(DUE_EXPECTATIONS)
  const ofRun = db.prepare<[number], ExpectationRecord>(EXPECTATION_OF)
  const lapses = db.prepare<[number], Omit<LapseRecord, 'kind'> & { kind: number }>(LAPSES_OF)
  return {
    nextExpectationAt: () => next.get() ?? null,
    dueExpectations: ({ until, limit }) => due.all(until, limit),
    expectationsOf: (runIds) => runIds.flatMap((runId) => ofRun.get(runId) ?? []),
    lapsesOf: (runIds) =>
      runIds
        .flatMap((runId) => lapses.all(runId))
        .map((row): LapseRecord => ({ ...row, kind: lapseOfCode(row.kind) }))
        .toSorted((a, b) => a.dueAt - b.dueAt),
  }
}
