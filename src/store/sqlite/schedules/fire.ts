import type { Database } from 'better-sqlite3'
import { canFireEarly } from '../../../core/schedule/firing/early-firing.ts'
import type {
  Expectation,
  FireBatch,
  FireCommand,
  FireResult,
  FireVerdict,
  NewRun,
} from '../../port.ts'
import { isAheadOfClock, outdatedResult, effectiveFireTime } from '../../fire-ahead.ts'
import { settle, type Settlement } from '../../../core/schedule/firing/settle-schedule.ts'
import { addOccurrencesOf, OCCURRENCE_WIDTH, occurrenceRow } from './add-occurrences.ts'
import type { Gates } from '../gates/admit.ts'
import { prepareBulk } from '../connection/bulk.ts'
import { prepareCancel } from '../ticks/cancel.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import { prepareAddExpectations } from '../expectations/expectations.ts'
import type { Needs } from '../ticks/needs.ts'
import { prepareEmitSignals } from '../signals/emit-signals.ts'
import { prepareRecordOutboxEvents } from '../webhooks/outbox.ts'
import { parseRuns } from './schedule-row.ts'
import { byRankAndId, insertMinted, prepareSubmits, type Submits } from '../ticks/submit.ts'
import { ascending, type GatedRuns, startTick, type TickState } from '../tick-state/tick-state.ts'

export const FIND_TO_FIRE = `
  SELECT id, project_id AS projectId, version, next_nominal_at AS nextNominalAt, look_at AS checkAt,
         last_nominal_at AS lastNominalAt, open_runs AS openRuns,
         paused_at IS NOT NULL AND resumed_at IS NULL AS isPaused
    FROM schedule WHERE id = ?`
/** Firing also clears the pause and the error. */
export const advanceSchedules = (rows: string) => `
  UPDATE schedule SET next_nominal_at = column2, look_at = column3,
         last_nominal_at = ifnull(column4, last_nominal_at), open_runs = column5,
         paused_at = NULL, paused_until = NULL, paused_reason = NULL, paused_by_job = 0,
         resumed_at = NULL, error = NULL
    FROM (${rows}) WHERE id = column1`
export const IS_OPEN = `SELECT 1 FROM run WHERE id = ? AND status < 4`

interface Row {
  readonly id: number
  readonly projectId: number
  readonly version: number
  readonly nextNominalAt: number | null
  readonly checkAt: number | null
  readonly lastNominalAt: number | null
  readonly openRuns: string | null
  readonly isPaused: number
}

/** `aheadMs` is measured before the commit. */
export type Fire = (batch: FireBatch, now: number, inBulk: boolean) => FireResult

/** The changes of all commands of a batch: decided one by one, written together. */
interface Fired {
  readonly settlements: Settlement<NewRun, Expectation>[]
  readonly cancelled: number[]
  /** Rows concatenated, as the bulk statements take them. */
  readonly occurrences: unknown[]
  readonly advances: unknown[]
}

export function prepareFire(
  db: Database,
  { gatedRuns, ...parts }: { gates: Gates; keys: Keys; needs: Needs; gatedRuns: GatedRuns },
): Fire {
  const { gates } = parts
  const find = db.prepare<[number], Row>(FIND_TO_FIRE)
  const isOpen = db.prepare<[number]>(IS_OPEN)
  const cancel = prepareCancel(db, parts)
  const write = prepareWriteFired(db, prepareSubmits(db, parts))

  /** Whether the runs would pass their gates; this is asked again when they are inserted. */
  const canPassGates = ({ settled }: FireCommand, tick: TickState): boolean => {
    const runGates = settled.flatMap((time) => (time.kind === 'run' ? time.run.gates : []))
    if (runGates.length === 0) return true
    const isFree = gates.enter(runGates, tick)
    if (isFree) gates.undoEnter(runGates, tick)
    return isFree
  }

  const decide = (
    command: FireCommand,
    row: Row,
    tick: TickState,
    { fired, isAhead }: { fired: Fired; isAhead: boolean },
  ): FireVerdict => {
    const open = parseRuns(row.openRuns).filter((runId) => isOpen.get(runId) !== undefined)
    // An open run may still end before the time comes.
    if (isAhead && (open.length > 0 || !canPassGates(command, tick))) return { kind: 'early' }
    const settlement = settle(command, open, tick.now)
    const { projectId } = row
    for (const runId of settlement.replaced) {
      cancel({ runId, projectId }, tick)
      fired.cancelled.push(runId)
    }
    const { openRuns, outcomes, occurrences } = settlement
    fired.settlements.push(settlement)
    for (const one of occurrences) fired.occurrences.push(...occurrenceRow(row, one, tick.now))
    fired.advances.push(
      row.id,
      command.next.nominalAt,
      command.next.checkAt,
      occurrences.at(-1)?.untilAt ?? null,
      openRuns.length > 0 ? JSON.stringify(openRuns) : null,
    )
    return { kind: 'done', outcomes, openRuns }
  }

  return (batch, clock, inBulk) => {
    const { node, validFrom, validUntil, commands } = batch
    const now = effectiveFireTime(batch, clock)
    const isAhead = now > clock
    const aheadMs = now - clock
    const tick = startTick(now, node, { gatedRuns, inBulk })
    if (now < validFrom || now > validUntil) return { ...outdatedResult(batch, now), aheadMs }
    const fired: Fired = { settlements: [], cancelled: [], occurrences: [], advances: [] }
    const taken = new Set<number>()
    const verdicts = commands.map((command): FireVerdict => {
      const row = find.get(command.id)
      // Decisions are written later: of two commands for one schedule the first counts.
      if (!row || taken.has(row.id) || !isAsExpected(row, command)) return { kind: 'lost' }
      if (row.checkAt === null) return { kind: 'lost' }
      if (isEarly(row, now) || isAheadOfClock(command, now)) return { kind: 'early' }
      if (isAhead && !canFireEarly(command)) return { kind: 'early' }
      taken.add(row.id)
      return decide(command, row, tick, { fired, isAhead })
    })
    const started = write(fired, tick)
    gates.admitTouched(tick)
    const { cancelled } = fired
    return { now, aheadMs, verdicts, started, lanes: ascending(tick.refilled), cancelled }
  }
}

/** Writes the changes of a batch; returns the runs that were directly assigned to a session. */
function prepareWriteFired(
  db: Database,
  submits: Submits,
): (fired: Fired, tick: TickState) => number[] {
  const bulkAdvance = prepareBulk(db, 5, advanceSchedules)
  const addOccurrences = prepareBulk(db, OCCURRENCE_WIDTH, addOccurrencesOf)
  const addExpectations = prepareAddExpectations(db)
  const recordOutboxEvents = prepareRecordOutboxEvents(db)
  const emitSignals = prepareEmitSignals(db)

  return (fired, tick) => {
    const { cancelled } = fired
    const runs = fired.settlements.flatMap((one) => one.runs).toSorted(byRankAndId)
    const started = insertMinted(runs, tick, submits)
    addOccurrences([], fired.occurrences)
    for (const { expected } of fired.settlements) addExpectations(expected)
    bulkAdvance([], fired.advances)
    if (cancelled.length > 0) {
      recordOutboxEvents(() => cancelled, tick.now)
      emitSignals(() => cancelled, tick)
    }
    return started
  }
}

/**
 * A schedule that only waits for its run to end may advance at any time, but not out of a pause.
 */
function isEarly({ nextNominalAt, checkAt, isPaused }: Row, now: number): boolean {
  return (nextNominalAt !== null || isPaused === 1) && checkAt !== null && checkAt > now
}

/**
 * A time at or before the last one would fire a second time, whatever the row says is next. So
 * would the next one: another node may have seen the followed run end earlier.
 */
function isAsExpected(row: Row, { version, nominalAt, settled, next }: FireCommand): boolean {
  const first = settled[0]?.nominalAt ?? next.nominalAt
  const isNew = first === null || row.lastNominalAt === null || first > row.lastNominalAt
  return row.version === version && row.nextNominalAt === nominalAt && isNew
}
