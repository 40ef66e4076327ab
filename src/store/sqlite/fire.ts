import type { Database } from 'better-sqlite3'
import {
  type FireBatch,
  type FireCommand,
  type FireResult,
  type FireVerdict,
  StoreError,
} from '../port.ts'
import { settle, type Settlement } from '../settle.ts'
import { prepareAddOccurrence } from './add-occurrence.ts'
import type { Gates } from './admit.ts'
import { prepareCancel } from './cancel.ts'
import type { Keys } from './keys.ts'
import { prepareNoteEnds } from './outbox.ts'
import { parseRuns } from './schedule-row.ts'
import { prepareSubmits } from './submit.ts'
import { ascending, startTick, type TickState } from './tick-state.ts'

export const FIND_TO_FIRE = `
  SELECT id, project_id AS projectId, version, next_nominal_at AS nextNominalAt, look_at AS lookAt,
         last_nominal_at AS lastNominalAt, open_runs AS openRuns
    FROM schedule WHERE id = ?`
/** Whatever kept it from firing is over: it has fired. */
export const MOVE_ON = `
  UPDATE schedule SET next_nominal_at = :next, look_at = :lookAt,
         last_nominal_at = ifnull(:last, last_nominal_at), open_runs = :openRuns,
         skip_nominal_at = CASE WHEN skip_nominal_at >= :next THEN skip_nominal_at END,
         paused_at = NULL, paused_until = NULL, paused_reason = NULL, paused_by_job = 0,
         resumed_at = NULL, error = NULL
   WHERE id = :id`
export const IS_OPEN = `SELECT 1 FROM run WHERE id = ? AND status < 4`

interface Row {
  readonly id: number
  readonly projectId: number
  readonly version: number
  readonly nextNominalAt: number | null
  readonly lookAt: number | null
  readonly lastNominalAt: number | null
  readonly openRuns: string | null
}

export type Fire = (batch: FireBatch, now: number) => FireResult

export function prepareFire(db: Database, { gates, keys }: { gates: Gates; keys: Keys }): Fire {
  const find = db.prepare<[number], Row>(FIND_TO_FIRE)
  const moveOn = db.prepare<[object]>(MOVE_ON)
  const isOpen = db.prepare<[number]>(IS_OPEN)
  const addOccurrence = prepareAddOccurrence(db)
  const submits = prepareSubmits(db, gates, keys)
  const cancel = prepareCancel(db, gates, keys)
  const noteEnds = prepareNoteEnds(db)

  const insert = ({ runs }: Settlement, tick: TickState) => {
    const verdicts = submits(runs, tick)
    for (const [index, { id, laneId }] of runs.entries()) {
      const kind = verdicts[index]?.kind
      if (kind === 'inserted') tick.refilled.add(laneId)
      else if (kind !== 'gated') throw new StoreError('refused', `run ${id} is there: ${kind}`)
    }
  }

  const fireOne = (command: FireCommand, tick: TickState, cancelled: number[]): FireVerdict => {
    const row = find.get(command.id)
    if (!row || !isAsExpected(row, command)) return { kind: 'lost' }
    if (row.lookAt === null) return { kind: 'lost' }
    if (isEarly(row, tick.now)) return { kind: 'early' }
    const open = parseRuns(row.openRuns).filter((runId) => isOpen.get(runId) !== undefined)
    const settlement = settle(command, open, tick.now)
    const { projectId } = row
    for (const runId of settlement.replaced) {
      cancel({ runId, projectId }, tick)
      cancelled.push(runId)
    }
    insert(settlement, tick)
    for (const occurrence of settlement.occurrences) addOccurrence(row, occurrence, tick.now)
    const { openRuns, outcomes } = settlement
    moveOn.run({
      id: row.id,
      next: command.next.nominalAt,
      lookAt: command.next.lookAt,
      last: settlement.occurrences.at(-1)?.untilAt ?? null,
      openRuns: openRuns.length > 0 ? JSON.stringify(openRuns) : null,
    })
    return { kind: 'done', outcomes, openRuns }
  }

  return ({ node, validFrom, validUntil, commands }, now) => {
    const tick = startTick(now, node)
    const cancelled: number[] = []
    if (now < validFrom || now > validUntil) {
      const verdicts = commands.map((): FireVerdict => ({ kind: 'outdated' }))
      return { now, verdicts, lanes: [], cancelled }
    }
    const verdicts = commands.map((command) => fireOne(command, tick, cancelled))
    if (cancelled.length > 0) noteEnds(() => cancelled, now)
    gates.admitTouched(tick)
    return { now, verdicts, lanes: ascending(tick.refilled), cancelled }
  }
}

/** One that only waits for its run to end may be moved on whenever that was seen. */
function isEarly({ nextNominalAt, lookAt }: Row, now: number): boolean {
  return nextNominalAt !== null && lookAt !== null && lookAt > now
}

/** A time at or before the last one would be a second run for it, whatever the row says is next. */
function isAsExpected(row: Row, { version, nominalAt, settled }: FireCommand): boolean {
  const first = settled[0]?.nominalAt
  const isNew = first === undefined || row.lastNominalAt === null || first > row.lastNominalAt
  return row.version === version && row.nextNominalAt === nominalAt && isNew
}
