import type { Database } from 'better-sqlite3'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import { prepareNoteFollowed } from './record-follow-ups.ts'
import { ascending, type TickState } from '../tick-state/tick-state.ts'

/** Where no flow is under way and nobody waits for another run, an end costs no more than this. */
export const ANYONE_WAITS = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM flow WHERE ended_at IS NULL) OR EXISTS (SELECT 1 FROM need)`
export const TELL_STEPS = `
  UPDATE step SET state = run.status, finished_at = run.finished_at,
         told_at = (SELECT :now FROM flow WHERE run_id = flow_id AND ended_at IS NULL)
    FROM run
   WHERE run.id = :runId AND run.status >= 4 AND step.run_id = :runId AND step.state = 1
  RETURNING flow_id AS flowId, step, item, state`
export const WAITING_FOR = `
  SELECT need.run_id FROM need JOIN run ON run.id = needed_id
   WHERE needed_id = ? AND run.status >= 4`

interface ToldStep {
  readonly flowId: number
  readonly step: number
  readonly item: number
  readonly state: number
}

/** Tells those who wait for these runs that they have ended; which of them did, their rows say. */
export type Tell = (runIds: () => Iterable<number>, tick: TickState) => void

export function prepareTell(db: Database): Tell {
  const anyoneWaits = db.prepare(ANYONE_WAITS)
  const tellSteps = db.prepare<[object], ToldStep>(TELL_STEPS)
  const noteFollowed = prepareNoteFollowed(db)
  const waitingFor = db.prepare<[number], number>(WAITING_FOR).pluck()

  return (runIds, tick) => {
    const { now, news } = tick
    noteFollowed(runIds, tick)
    if (anyoneWaits.get() === undefined) return
    for (const runId of ascending(runIds())) {
      for (const { state, ...step } of tellSteps.all({ runId, now })) {
        news.push({ kind: 'step', ...step, state: stateOfCode(state) as FinalState })
      }
      for (const waiting of waitingFor.all(runId)) news.push({ kind: 'need', runId: waiting })
    }
  }
}
