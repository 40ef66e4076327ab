import type { Database } from 'better-sqlite3'
import { BACKFILL_STATES, backfillStateOf } from '../../../core/schedule/backfill/backfill.ts'
import {
  type BackfilledTime,
  type BackfillTransition,
  type BackfillRecord,
  type BackfillStore,
  type NewRun,
  StoreError,
} from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import type { Audit } from '../audit/audit.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import type { Needs } from '../ticks/needs.ts'
import { parseRuns } from '../schedules/schedule-row.ts'
import { prepareSubmits } from '../ticks/submit.ts'
import { ascending, startTick } from '../tick-state/tick-state.ts'
import type { Sync } from '../connection/sync.ts'

const COLUMNS = `
  id, project_id AS projectId, schedule_id AS scheduleId, version, state, spec, place AS processedUntil,
  look_at AS checkAt, open_runs AS openRuns, made, passed, error, created_at AS createdAt,
  created_by AS createdBy, finished_at AS finishedAt`
export const FIND_BACKFILL = `SELECT ${COLUMNS} FROM backfill WHERE id = ? AND project_id = ?`
export const BACKFILLS_OF = `
  SELECT ${COLUMNS} FROM backfill WHERE project_id = :projectId AND id < :before
   ORDER BY id DESC LIMIT :limit`
export const OPEN_BACKFILLS = `
  SELECT ${COLUMNS} FROM backfill WHERE state = 0 AND look_at <= :until
   ORDER BY look_at LIMIT :limit`
export const BACKFILLED = `
  SELECT nominal_at AS nominalAt, run_id AS runId, backfill_id AS backfillId FROM backfill_time
   WHERE schedule_id = :scheduleId AND nominal_at >= :from AND nominal_at <= :until
   ORDER BY nominal_at, run_id LIMIT :limit`
export const BACKFILLED_BY = `
  SELECT schedule_id AS scheduleId, nominal_at AS nominalAt, run_id AS runId,
         backfill_id AS backfillId
    FROM backfill_time WHERE run_id = ?`
const ADD_BACKFILL = `
  INSERT INTO backfill (id, project_id, schedule_id, version, state, look_at, made, passed,
                        created_at, created_by, spec)
  VALUES (:id, :projectId, :scheduleId, 1, 0, :now, 0, 0, :now, :actor, :spec)`
const ADD_TIME = `
  INSERT INTO backfill_time (schedule_id, nominal_at, run_id, backfill_id) VALUES (?, ?, ?, ?)`
export const ADVANCE_BACKFILL = `
  UPDATE backfill SET version = version + 1, state = :state, place = :processedUntil, look_at = :checkAt,
         open_runs = :openRuns, made = made + :made, passed = passed + :passed, error = :error,
         finished_at = :finishedAt
   WHERE id = :id AND version = :version AND state = 0
  RETURNING schedule_id AS scheduleId`
export const CANCEL_BACKFILL = `
  UPDATE backfill SET version = version + 1, state = 2, finished_at = :now
   WHERE id = :id AND project_id = :projectId AND state = 0`

type Row = Omit<BackfillRecord, 'state' | 'openRuns'> & {
  readonly state: number
  readonly openRuns: string | null
}
type Input<Name extends keyof BackfillStore> = Parameters<BackfillStore[Name]>[0]
type Queries = Pick<
  BackfillStore,
  'findBackfill' | 'listBackfills' | 'openBackfills' | 'backfilledTimes' | 'backfilledBy'
>

export interface BackfillChanges {
  addBackfill(input: Input<'addBackfill'>, now: number): void
  advanceBackfill(move: BackfillTransition, now: number): { lanes: number[] } | null
  cancelBackfill(input: Input<'cancelBackfill'>, now: number): boolean
}

export function prepareBackfills(
  db: Database,
  { audit, ...parts }: { gates: Gates; keys: Keys; needs: Needs; audit: Audit },
): BackfillChanges {
  const { gates } = parts
  const add = db.prepare<[object]>(ADD_BACKFILL)
  const addTime = db.prepare(ADD_TIME)
  const advanceSchedules = db.prepare<[object], number>(ADVANCE_BACKFILL).pluck()
  const cancel = db.prepare<[object]>(CANCEL_BACKFILL)
  const submits = prepareSubmits(db, parts)

  const insert = (runs: readonly NewRun[], node: number, now: number): number[] => {
    const tick = startTick(now, node)
    for (const [index, { kind }] of submits(runs, tick, false).entries()) {
      const { id, laneId } = runs[index] as NewRun
      if (kind === 'inserted') tick.refilled.add(laneId)
      else if (kind !== 'gated')
        throw new StoreError('refused', `run ${id} already exists: ${kind}`)
    }
    gates.admitTouched(tick)
    return ascending(tick.refilled)
  }

  return {
    addBackfill({ id, projectId, scheduleId, spec, audit: entry }, now) {
      add.run({ id, projectId, scheduleId, spec, now, actor: entry.actor })
      audit(entry, now)
    },
    advanceBackfill({ node, runs, openRuns, state, ...move }, now) {
      const scheduleId = advanceSchedules.get({
        id: move.id,
        version: move.version,
        processedUntil: move.processedUntil,
        checkAt: move.checkAt,
        passed: move.passed,
        error: move.error,
        made: runs.length,
        state: BACKFILL_STATES.indexOf(state),
        openRuns: openRuns.length > 0 ? JSON.stringify(openRuns) : null,
        finishedAt: state === 'running' ? null : now,
      })
      if (scheduleId === undefined) return null
      for (const { nominalAt, run } of runs) addTime.run(scheduleId, nominalAt, run.id, move.id)
      const made = runs.map(({ run }) => run)
      return { lanes: made.length > 0 ? insert(made, node, now) : [] }
    },
    cancelBackfill({ projectId, id, audit: entry }, now) {
      const isCancelled = cancel.run({ id, projectId, now }).changes > 0
      if (isCancelled) audit(entry, now)
      return isCancelled
    },
  }
}

export function prepareBackfillQueries(db: Database): Sync<Queries> {
  const find = db.prepare<[number, number], Row>(FIND_BACKFILL)
  const ofProject = db.prepare<[object], Row>(BACKFILLS_OF)
  const open = db.prepare<[object], Row>(OPEN_BACKFILLS)
  const times = db.prepare<[object], BackfilledTime>(BACKFILLED)
  const byRun = db.prepare<[number], BackfilledTime & { scheduleId: number }>(BACKFILLED_BY)
  return {
    findBackfill({ projectId, id }) {
      const row = find.get(id, projectId)
      return row ? toBackfill(row) : null
    },
    listBackfills: (page) => ofProject.all({ ...page }).map(toBackfill),
    openBackfills: (page) => open.all({ ...page }).map(toBackfill),
    backfilledTimes: (range) => times.all({ ...range }),
    backfilledBy: ({ runId }) => byRun.get(runId) ?? null,
  }
}

function toBackfill(row: Row): BackfillRecord {
  return { ...row, state: backfillStateOf(row.state), openRuns: parseRuns(row.openRuns) }
}
