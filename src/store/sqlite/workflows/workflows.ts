import type { Database } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import { inOrder } from '../../signals.ts'
import {
  type FlowAdvance,
  type FlowBatch,
  type FlowMove,
  type FlowPlace,
  type FlowRecord,
  type FlowStore,
  StoreError,
} from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import type { Audit } from '../audit/audit.ts'
import { FINISH } from '../ticks/end.ts'
import { FIND_FLOW, type FlowRow, toFlow } from './workflow-queries.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import type { Needs } from '../ticks/needs.ts'
import { prepareTell } from '../signals/emit-signals.ts'
import { prepareNoteEnds } from '../webhooks/outbox.ts'
import { prepareSteps } from './steps.ts'
import { byRankAndId, prepareSubmits } from '../ticks/submit.ts'
import { ascending, parseGates, startTick, type TickState } from '../tick-state/tick-state.ts'

/** By then whoever began a flow has gone on with it, or is gone. */
export const FIRST_LOOK_MS = 1_000

export const READY_TO_BEGIN = `
  SELECT id AS runId, job_id AS jobId, retry_of AS retryOf FROM run
   WHERE status = 0 AND lane_id = ? ORDER BY rank, pos LIMIT ?`
/** No node, session or fence: nobody holds it. */
export const BEGIN_RUN = `
  UPDATE run SET status = 1, started_at = ?, node = NULL, session = NULL, fence = NULL WHERE id = ?`
export const BEGIN_FLOW = `
  INSERT INTO flow (run_id, job_id, wave, revision, node, began_at, look_at)
  VALUES (?, ?, ?, 0, ?, ?, ?)`
export const WAVE_OF = `SELECT wave FROM flow WHERE run_id = ? AND job_id = ?`
export const NEXT_WAVE = `
  INSERT INTO wave (job_id, last) VALUES (?, 1) ON CONFLICT (job_id) DO UPDATE SET last = last + 1
  RETURNING last`
export const MOVE_ON = `
  UPDATE flow SET revision = revision + 1, node = ?, look_at = ?, ended_at = ?
   WHERE run_id = ? AND revision = ? AND ended_at IS NULL`
export const FIND_HELD = `
  SELECT project_id AS projectId, gates, dedupe_key AS dedupeKey FROM run WHERE id = ?`
export const DUE_FLOWS = `
  SELECT run_id AS runId, revision FROM flow WHERE look_at <= ? ORDER BY look_at LIMIT ?`
export const TOLD_FLOWS = `SELECT flow_id FROM step WHERE told_at <= ? ORDER BY told_at`
export const PLACE_OF = `SELECT run_id AS runId, revision FROM flow WHERE run_id = ?`

type Input<Verb extends keyof FlowStore> = Parameters<FlowStore[Verb]>[0]

interface Ready {
  readonly runId: number
  readonly jobId: number
  readonly retryOf: number | null
}

interface Held {
  readonly projectId: number
  readonly gates: string | null
  readonly dedupeKey: string | null
}

export interface Flows {
  beginFlows(input: Input<'beginFlows'>, now: number): FlowRecord[]
  advanceFlows(batch: FlowBatch, now: number): FlowAdvance
  restlessFlows(input: Input<'restlessFlows'>, now: number): FlowPlace[]
}

export function prepareFlows(
  db: Database,
  { audit, ...parts }: { gates: Gates; keys: Keys; needs: Needs; audit: Audit },
): Flows {
  const { gates, keys } = parts
  const readyIn = db.prepare<[number, number], Ready>(READY_TO_BEGIN)
  const beginRun = db.prepare(BEGIN_RUN)
  const beginFlow = db.prepare(BEGIN_FLOW)
  const waveOf = db.prepare<[number, number], number>(WAVE_OF).pluck()
  const nextWave = db.prepare<[number], number>(NEXT_WAVE).pluck()
  const find = db.prepare<[number], FlowRow>(FIND_FLOW)
  const moveOn = db.prepare(MOVE_ON)
  const findHeld = db.prepare<[number], Held>(FIND_HELD)
  const finish = db.prepare(FINISH)
  const due = db.prepare<[number, number], FlowPlace>(DUE_FLOWS)
  const told = db.prepare<[number], number>(TOLD_FLOWS).pluck()
  const placeOf = db.prepare<[number], FlowPlace>(PLACE_OF)
  const steps = prepareSteps(db)
  const submits = prepareSubmits(db, parts)
  const noteEnds = prepareNoteEnds(db)
  const tell = prepareTell(db)

  const begin = ({ runId, jobId, retryOf }: Ready, node: number, now: number): FlowRecord => {
    const repeated = retryOf === null ? undefined : waveOf.get(retryOf, jobId)
    const wave = repeated ?? nextWave.get(jobId)
    beginRun.run(now, runId)
    beginFlow.run(runId, jobId, wave, node, now, now + FIRST_LOOK_MS)
    return toFlow(find.get(runId) as FlowRow)
  }

  const close = ({ runId, end }: FlowMove, tick: TickState) => {
    if (!end) return
    const { projectId, gates: held, dedupeKey } = findHeld.get(runId) as Held
    const { state, cause, message, result } = end
    finish.run(STATE_CODE[state], tick.now, cause, null, message, result, null, runId)
    gates.letGo(parseGates(held), tick)
    if (dedupeKey !== null) keys.release(projectId, dedupeKey, runId)
  }

  const move = (one: FlowMove, tick: TickState): boolean => {
    const { runId, revision, lookAt, end } = one
    const endedAt = end ? tick.now : null
    const { changes } = moveOn.run(tick.node, end ? null : lookAt, endedAt, runId, revision)
    if (changes === 0) return false
    steps.write(one, tick.now)
    close(one, tick)
    if (one.audit) audit(one.audit, tick.now)
    return true
  }

  /** Gives those that went straight to a session. */
  const start = (moves: readonly FlowMove[], tick: TickState): number[] => {
    const started: number[] = []
    const runs = moves.flatMap(({ starts }) => starts.map(({ run }) => run)).sort(byRankAndId)
    const verdicts = submits(runs, tick, true)
    for (const [index, { id, laneId, dueAt, handOff }] of runs.entries()) {
      const kind = verdicts[index]?.kind
      const isReady = kind === 'inserted' && (dueAt === null || dueAt <= tick.now)
      if (isReady && handOff) started.push(id)
      else if (isReady) tick.refilled.add(laneId)
      else if (kind !== 'inserted' && kind !== 'gated') {
        throw new StoreError('refused', `run ${id} is there: ${kind}`)
      }
    }
    return started
  }

  return {
    beginFlows({ node, lanes, limit }, now) {
      const begun: FlowRecord[] = []
      for (const lane of lanes) {
        for (const run of readyIn.all(lane, limit - begun.length)) begun.push(begin(run, node, now))
      }
      return begun
    },
    advanceFlows({ node, moves }, now) {
      const tick = startTick(now, node)
      const moved = new Set<number>()
      const made = moves.map(
        (one) => !moved.has(one.runId) && move(one, tick) && !!moved.add(one.runId),
      )
      const advanced = moves.filter((_, index) => made[index])
      const ended = advanced.flatMap(({ runId, end }) => (end ? [runId] : []))
      const started = start(advanced, tick)
      noteEnds(() => ended, now)
      tell(() => ended, tick)
      gates.admitTouched(tick)
      return {
        now,
        verdicts: made.map((isMade) => (isMade ? 'advanced' : 'behind')),
        started,
        lanes: ascending(tick.refilled),
        nextDueAt: tick.nextDueAt,
        news: inOrder(tick.news),
      }
    },
    restlessFlows({ limit, olderThanMs }, now) {
      const places = new Map(due.all(now, limit).map((place) => [place.runId, place]))
      // Each flow once, however many of its steps have news.
      for (const flowId of places.size < limit ? told.iterate(now - olderThanMs) : []) {
        if (places.size === limit) break
        const place = places.has(flowId) ? undefined : placeOf.get(flowId)
        if (place) places.set(flowId, place)
      }
      return [...places.values()]
    },
  }
}
