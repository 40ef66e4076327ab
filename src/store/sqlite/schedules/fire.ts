import type { Database } from 'better-sqlite3'
import { mayGoAhead } from '../../../core/schedule/firing/early-firing.ts'
import {
  type FireBatch,
  type FireCommand,
  type FireResult,
  type FireVerdict,
  StoreError,
} from '../../port.ts'
import { isBeforeItsTime, timeOfFiring } from '../../fire-ahead.ts'
import { settle, type Settlement } from '../../settle-schedule.ts'
import { addOccurrencesOf, OCCURRENCE_WIDTH, occurrenceRow } from './add-occurrences.ts'
import type { Gates } from '../gates/admit.ts'
import { prepareBulk } from '../connection/bulk.ts'
import { prepareCancel } from '../ticks/cancel.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import { prepareAddExpectations } from '../expectations/expectations.ts'
import type { Needs } from '../ticks/needs.ts'
import { prepareTell } from '../signals/emit-signals.ts'
import { prepareNoteEnds } from '../webhooks/outbox.ts'
import { parseRuns } from './schedule-row.ts'
import { byRankAndId, prepareSubmits } from '../ticks/submit.ts'
import { ascending, type Holding, startTick, type TickState } from '../tick-state/tick-state.ts'

export const FIND_TO_FIRE = `
  SELECT id, project_id AS projectId, version, next_nominal_at AS nextNominalAt, look_at AS lookAt,
         last_nominal_at AS lastNominalAt, open_runs AS openRuns,
         paused_at IS NOT NULL AND resumed_at IS NULL AS isPaused
    FROM schedule WHERE id = ?`
/** Whatever kept it from firing is over: it has fired. */
export const moveOn = (rows: string) => `
  UPDATE schedule SET next_nominal_at = column2, look_at = column3,
         last_nominal_at = ifnull(column4, last_nominal_at), open_runs = column5,
         skip_nominal_at = CASE WHEN skip_nominal_at >= column2 THEN skip_nominal_at END,
         paused_at = NULL, paused_until = NULL, paused_reason = NULL, paused_by_job = 0,
         resumed_at = NULL, error = NULL
    FROM (${rows}) WHERE id = column1`
export const IS_OPEN = `SELECT 1 FROM run WHERE id = ? AND status < 4`

interface Row {
  readonly id: number
  readonly projectId: number
  readonly version: number
  readonly nextNominalAt: number | null
  readonly lookAt: number | null
  readonly lastNominalAt: number | null
  readonly openRuns: string | null
  readonly isPaused: number
}

/** `aheadMs` is that before the commit. */
export type Fire = (batch: FireBatch, now: number, inBulk: boolean) => FireResult

/** What all commands of a batch come to: decided one by one, written together. */
interface Fired {
  readonly settlements: Settlement[]
  readonly cancelled: number[]
  /** One after the other, as the statements want them. */
  readonly occurrences: unknown[]
  readonly moves: unknown[]
}

export function prepareFire(
  db: Database,
  { holding, ...parts }: { gates: Gates; keys: Keys; needs: Needs; holding: Holding },
): Fire {
  const { gates } = parts
  const find = db.prepare<[number], Row>(FIND_TO_FIRE)
  const bulkMoveOn = prepareBulk(db, 5, moveOn)
  const isOpen = db.prepare<[number]>(IS_OPEN)
  const addOccurrences = prepareBulk(db, OCCURRENCE_WIDTH, addOccurrencesOf)
  const addExpectations = prepareAddExpectations(db)
  const submits = prepareSubmits(db, parts)
  const cancel = prepareCancel(db, parts)
  const noteEnds = prepareNoteEnds(db)
  const tell = prepareTell(db)

  /** Whether its run passes its gate, if it has one: it is asked for again when the run is written. */
  const findsRoom = ({ settled }: FireCommand, tick: TickState): boolean => {
    const runGates = settled.flatMap((time) => (time.kind === 'run' ? time.run.gates : []))
    if (runGates.length === 0) return true
    const isFree = gates.enter(runGates, tick)
    if (isFree) gates.turnBack(runGates, tick)
    return isFree
  }

  const decide = (
    command: FireCommand,
    row: Row,
    tick: TickState,
    { fired, isAhead }: { fired: Fired; isAhead: boolean },
  ): FireVerdict => {
    const open = parseRuns(row.openRuns).filter((runId) => isOpen.get(runId) !== undefined)
    // A run that has not ended may yet, until the time has come.
    if (isAhead && (open.length > 0 || !findsRoom(command, tick))) return { kind: 'early' }
    const settlement = settle(command, open, tick.now)
    const { projectId } = row
    for (const runId of settlement.replaced) {
      cancel({ runId, projectId }, tick)
      fired.cancelled.push(runId)
    }
    const { openRuns, outcomes, occurrences } = settlement
    fired.settlements.push(settlement)
    for (const one of occurrences) fired.occurrences.push(...occurrenceRow(row, one, tick.now))
    fired.moves.push(
      ...[row.id, command.next.nominalAt, command.next.lookAt],
      occurrences.at(-1)?.untilAt ?? null,
      openRuns.length > 0 ? JSON.stringify(openRuns) : null,
    )
    return { kind: 'done', outcomes, openRuns }
  }

  /** Returns those that went straight to a worker. */
  const insert = (settlements: readonly Settlement[], tick: TickState): number[] => {
    const runs = settlements.flatMap((one) => one.runs).toSorted(byRankAndId)
    const verdicts = submits(runs, tick, true)
    const started: number[] = []
    for (const [index, { id, laneId, handOff }] of runs.entries()) {
      const kind = verdicts[index]?.kind
      if (kind === 'inserted' && handOff) started.push(id)
      else if (kind === 'inserted') tick.refilled.add(laneId)
      else if (kind !== 'gated') throw new StoreError('refused', `run ${id} is there: ${kind}`)
    }
    return started
  }

  return (batch, clock, inBulk) => {
    const { node, validFrom, validUntil, commands } = batch
    const now = timeOfFiring(batch, clock)
    const isAhead = now > clock
    const aheadMs = now - clock
    const tick = startTick(now, node, { holding, inBulk })
    if (now < validFrom || now > validUntil) {
      const verdicts = commands.map((): FireVerdict => ({ kind: 'outdated' }))
      return { now, aheadMs, verdicts, started: [], lanes: [], cancelled: [] }
    }
    const fired: Fired = { settlements: [], cancelled: [], occurrences: [], moves: [] }
    const taken = new Set<number>()
    const verdicts = commands.map((command): FireVerdict => {
      const row = find.get(command.id)
      // What is decided is not written yet: of two commands for a schedule the first counts.
      if (!row || taken.has(row.id) || !isAsExpected(row, command)) return { kind: 'lost' }
      if (row.lookAt === null) return { kind: 'lost' }
      if (isEarly(row, now) || isBeforeItsTime(command, now)) return { kind: 'early' }
      if (isAhead && !mayGoAhead(command)) return { kind: 'early' }
      taken.add(row.id)
      return decide(command, row, tick, { fired, isAhead })
    })
    const { cancelled } = fired
    const started = insert(fired.settlements, tick)
    addOccurrences([], fired.occurrences)
    for (const { expected } of fired.settlements) addExpectations(expected)
    bulkMoveOn([], fired.moves)
    if (cancelled.length > 0) {
      noteEnds(() => cancelled, now)
      tell(() => cancelled, tick)
    }
    gates.admitTouched(tick)
    return { now, aheadMs, verdicts, started, lanes: ascending(tick.refilled), cancelled }
  }
}

/** One that only waits for its run to end may be moved on whenever that was seen, but not out of a pause. */
function isEarly({ nextNominalAt, lookAt, isPaused }: Row, now: number): boolean {
  return (nextNominalAt !== null || isPaused === 1) && lookAt !== null && lookAt > now
}

/**
 * A time at or before the last one would be a second run for it, whatever the row says is next. So would
 * one that comes next: of runs that are followed, somebody may have seen an earlier one end.
 */
function isAsExpected(row: Row, { version, nominalAt, settled, next }: FireCommand): boolean {
  const first = settled[0]?.nominalAt ?? next.nominalAt
  const isNew = first === null || row.lastNominalAt === null || first > row.lastNominalAt
  return row.version === version && row.nextNominalAt === nominalAt && isNew
}
