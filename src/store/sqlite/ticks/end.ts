import type { Database } from 'better-sqlite3'
import { type Cause, STATE_CODE, type FinalState } from '../../../core/run/run-state.ts'
import { waitsUntil } from '../../fire-ahead.ts'
import { isSimpleSuccess } from '../../run-options.ts'
import type { EndCommand, EndVerdict } from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import { prepareBulk } from '../connection/bulk.ts'
import type { Keys } from './submit-keys.ts'
import { trackNextDue, parseGateIds, type TickState } from '../tick-state/tick-state.ts'

export const FIND_UNDER_WAY = `
  SELECT project_id AS projectId, lane_id AS laneId, node, attempt, cancelling,
         started_at AS startedAt, due_at AS dueAt, gates, dedupe_key AS dedupeKey
    FROM run WHERE id = ? AND status = 1 AND fence = ?`
/** The worker whose session has the lease. The end of an attempt whose worker is gone is reported without a name. */
export const FIND_HOLDER = `
  SELECT name FROM session WHERE id = (SELECT session FROM run WHERE run.id = ?)`
export const FINISH = `
  UPDATE run SET status = ?, finished_at = ?, cause = ?, worker = ?, message = ?, result = ?,
         process = ?
   WHERE id = ?`
const succeedWhere = (condition: string) => (rows: string) =>
  `
  UPDATE run SET status = 4, finished_at = ?, worker = column3, result = column4 FROM (${rows})
   WHERE id = column1 AND status = 1 AND fence = column2 AND ${condition} AND dedupe_key IS NULL`
/** The common case: success of a run without gates and keys. */
export const succeed = succeedWhere('gates IS NULL')
export const succeedGated = succeedWhere('gates IS NOT NULL')
export const RECORD_ATTEMPT = `
  INSERT INTO attempt (run_id, fence, attempt, cause, message, worker, process, started_at, finished_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
/** The row keeps its session: the next attempt prefers another one. */
export const RETRY_TO_TIMER = `
  UPDATE run SET status = 2, timer_at = ?, attempt = attempt + 1, lost = ?,
         fence = NULL, node = NULL, started_at = NULL
   WHERE id = ?`
export const RETRY_TO_READY = `
  UPDATE run SET status = 0, pos = ?, attempt = attempt + 1, lost = ?,
         fence = NULL, node = NULL, started_at = NULL
   WHERE id = ?`
export const BACK_TO_READY = `
  UPDATE run SET status = 0, pos = id,
         fence = NULL, node = NULL, session = NULL, started_at = NULL
   WHERE id = ?`
/** The run was leased ahead of time and not started: it waits for its time like any other. */
export const BACK_TO_TIMER = `
  UPDATE run SET status = 2, timer_at = ?,
         fence = NULL, node = NULL, session = NULL, started_at = NULL
   WHERE id = ?`
/** The run ended with this very fence, or an earlier attempt of it did. */
export const ENDED_BEFORE = `
  SELECT cause FROM run WHERE id = ? AND fence = ? AND status >= 4
   UNION ALL SELECT cause FROM attempt WHERE run_id = ? AND fence = ? LIMIT 1`

interface UnderWay {
  readonly projectId: number
  readonly laneId: number
  readonly node: number
  readonly attempt: number
  readonly cancelling: number
  readonly startedAt: number
  readonly dueAt: number | null
  readonly gates: string | null
  readonly dedupeKey: string | null
}

export interface AttemptEnds {
  end(commands: readonly EndCommand[], tick: TickState): EndVerdict[]
  /** The cause with which this fence ended an attempt; undefined if it did not. */
  endedWith(runId: number, fence: number): Cause | null | undefined
}

export function prepareAttemptEnds(db: Database, gates: Gates, keys: Keys): AttemptEnds {
  const find = db.prepare<[number, number], UnderWay>(FIND_UNDER_WAY)
  const findHolder = db.prepare<[number], string>(FIND_HOLDER).pluck()
  const finish = db.prepare(FINISH)
  const bulkSucceed = prepareBulk(db, 4, succeed)
  const bulkSucceedGated = prepareBulk(db, 4, succeedGated)
  const endedBefore = db
    .prepare<[number, number, number, number], Cause | null>(ENDED_BEFORE)
    .pluck()

  const holderOf = (runId: number) => findHolder.get(runId) ?? null
  const { retry, giveBack } = prepareRequeue(db, gates, holderOf)

  const close = (run: UnderWay, to: FinalState, command: EndCommand, tick: TickState) => {
    const { runId, cause, message, result, process } = command
    const worker = command.worker ?? holderOf(runId)
    finish.run(STATE_CODE[to], tick.now, cause, worker, message, result, process, runId)
    if (run.gates !== null) gates.release(parseGateIds(run.gates), tick)
    if (run.dedupeKey !== null) keys.release(run.projectId, run.dedupeKey, runId)
  }

  const endedWith = (runId: number, fence: number) => endedBefore.get(runId, fence, runId, fence)

  const end = (command: EndCommand, tick: TickState): EndVerdict => {
    const { runId, fence, owner } = command
    const run = find.get(runId, fence)
    if (!run) return endedWith(runId, fence) === command.cause ? 'replayed' : 'stale'
    if (owner !== null && run.node !== owner) return 'stale'
    tick.gatedRuns.delete(runId)
    // Another node may have marked the lease a moment ago; only a success is too late to cancel.
    const to = run.cancelling === 1 && command.to !== 'succeeded' ? 'cancelled' : command.to
    if (to === 'retry') retry(run, command, tick)
    else if (to === 'given_back') giveBack(run, runId, tick)
    else close(run, to, command, tick)
    return 'ended'
  }

  return {
    end(commands, tick) {
      const successes: unknown[] = []
      const gatedSuccesses: unknown[] = []
      const rest: number[] = []
      const verdicts = new Array<EndVerdict>(commands.length).fill('ended')
      for (const [index, command] of commands.entries()) {
        const { runId, fence, worker, result } = command
        const gatesOfRun = tick.gatedRuns.get(runId)
        if (!tick.inBulk || !isSimpleSuccess(command) || gatesOfRun === null) rest.push(index)
        else if (gatesOfRun === undefined) successes.push(runId, fence, worker, result)
        else {
          gatedSuccesses.push(runId, fence, worker, result)
          gates.release(gatesOfRun, tick)
        }
      }
      // Bulk first, although these may have come later: ends of one attempt in one tick have no
      // order.
      bulkSucceed([tick.now], successes)
      bulkSucceedGated([tick.now], gatedSuccesses)
      for (let at = 0; at < gatedSuccesses.length; at += 4)
        tick.gatedRuns.delete(gatedSuccesses[at] as number)
      for (const index of rest) verdicts[index] = end(commands[index] as EndCommand, tick)
      return verdicts
    },
    endedWith,
  }
}

/** The ways in which a run goes back from its lease to its queue or a timer. */
interface Requeue {
  /** After an attempt that counts. */
  retry(run: UnderWay, command: EndCommand, tick: TickState): void
  /** After a lease that was given back: the attempt does not count. */
  giveBack(run: UnderWay, runId: number, tick: TickState): void
}

function prepareRequeue(
  db: Database,
  gates: Gates,
  holderOf: (runId: number) => string | null,
): Requeue {
  const recordAttempt = db.prepare(RECORD_ATTEMPT)
  const toTimer = db.prepare(RETRY_TO_TIMER)
  const toReady = db.prepare(RETRY_TO_READY)
  const backToReady = db.prepare(BACK_TO_READY)
  const backToTimer = db.prepare(BACK_TO_TIMER)

  const retry = (run: UnderWay, command: EndCommand, tick: TickState) => {
    const { runId, fence, cause, message, process, delayMs, lost } = command
    const { attempt, startedAt } = run
    const worker = command.worker ?? holderOf(runId)
    recordAttempt.run(runId, fence, attempt, cause, message, worker, process, startedAt, tick.now)
    if (delayMs > 0) {
      const timerAt = tick.now + delayMs
      toTimer.run(timerAt, lost, runId)
      trackNextDue(tick, timerAt)
      gates.release(parseGateIds(run.gates), tick)
      return
    }
    toReady.run(command.pos, lost, runId)
    tick.refilled.add(run.laneId)
  }

  const giveBack = (run: UnderWay, runId: number, tick: TickState) => {
    const timerAt = waitsUntil(run, tick.now)
    if (timerAt !== null) {
      backToTimer.run(timerAt, runId)
      trackNextDue(tick, timerAt)
      gates.release(parseGateIds(run.gates), tick)
      return
    }
    backToReady.run(runId)
    tick.refilled.add(run.laneId)
  }

  return { retry, giveBack }
}
