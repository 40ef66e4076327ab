import type { Clock } from '../../core/clock.ts'
import type { FlowAdvance, FlowMove, FlowStore, News, SweepStore } from '../../store/port.ts'
import { StoreError } from '../../store/port.ts'
import { RECHECK_MS } from '../dispatch/recheck.ts'
import type { Outcome } from '../loops/run-loop.ts'
import type { HandOver } from '../dispatch/direct-assignment.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { HeldFlow } from './loaded-workflow.ts'
import { type LoadDeps, loadFlows, type Unreadable } from './load-workflows.ts'
import { giveUp, stopSteps } from './give-up.ts'
import { type MadeMove, makeMove, type MoveDeps } from './prepare-transition.ts'
import { createRefusals } from './refused-workflows.ts'
import { createRequests, type Request } from './step-requests.ts'
import { createShelf } from './workflow-cache.ts'
import { createStopping, type Telling } from './stop-notifier.ts'

/** Flows that begin, are read, or go on at once. */
const AT_ONCE = 50
/** Steps that one transaction writes about: others wait for it no longer than for a large tick. */
const STEPS_AT_ONCE = 1_000
/** News this old that nobody has answered are everybody's affair. */
const SWEEP_MS = 1_000
const RESTLESS = 200
const RELEASE = 500
/** Of a flow that somebody else may hold: long enough for them to be quicker, if they hear. */
const OTHERS_MS = 40

export interface FlowDeps extends LoadDeps, MoveDeps, Telling {
  readonly store: LoadDeps['store'] &
    Pick<FlowStore, 'beginFlows' | 'advanceFlows' | 'restlessFlows' | 'findFlows' | 'resultsOf'> &
    Pick<SweepStore, 'recheck'>
  readonly board: Pick<LaneBoard, 'lanes' | 'get'>
  readonly clock: Pick<Clock, 'sleep' | 'mono'>
  node(): number
  /** Whether this node is in touch with the store: only then are ids and clock its own. */
  mayMove(): boolean
  /** Steps go straight to workers that wait. */
  readonly handOver: HandOver
  /** Lanes have work. */
  onReady(lanes: readonly number[]): void
  onTimer(dueAt: number): void
  /** Runs that are there now, or have changed. */
  onRuns(runIds: readonly number[]): void
  /** A flow has ended here. */
  onEnded(runId: number): void
  /** There is something to do. */
  wake(): void
  /** Jobs are to run after something that ended. */
  onFollowed(): void
}

export interface Flows {
  /** Begins what is ready and goes on with what has news, as much as goes into one transaction. */
  step(): Promise<Outcome>
  /** What was brought to an end here. */
  hear(news: readonly News[]): void
  /** Something may stand in a lane of flows. */
  ready(laneId: number): void
  /**
   * What somebody decided about a step of a flow. Resolves when it is written down, and rejects after a
   * while: then, or when `gone` says that nobody waits any more, it is not tried again.
   */
  ask(runId: number, request: Request, gone?: AbortSignal): Promise<void>
  /** This node was away: what it remembers is worth nothing. */
  forget(): void
}

/**
 * Goes on with flows, whoever began them. Where one stands is in the store, and going on is a compare
 * and set: of nodes that try at the same time one succeeds, and the others read again. What is kept in
 * memory only saves the reading.
 */
export function createFlows(deps: FlowDeps): Flows {
  const { store, board, clock, storeNow, onError } = deps
  const shelf = createShelf()
  const requests = createRequests(clock)
  const stopping = createStopping(deps)
  const toRead = new Set<number>()
  const toBegin = new Set<number>()
  /** Runs that start after others, of which one has ended. */
  const toRelease = new Set<number>()
  const refusals = createRefusals(storeNow)
  let sweepMono = Number.NEGATIVE_INFINITY
  let sweepAgeMs = SWEEP_MS

  const reread = (runId: number) => {
    shelf.drop(runId)
    toRead.add(runId)
  }

  const stir = (runId: number) => {
    if (shelf.get(runId)) shelf.stir(runId)
    else toRead.add(runId)
  }

  const take = async (found: readonly (HeldFlow | Unreadable)[]): Promise<void> => {
    const hopeless: Unreadable[] = []
    for (const flow of found) {
      const { record } = flow
      const problem = 'problem' in flow ? flow.problem : refusals.problemOf(record.runId)
      if (problem !== undefined) hopeless.push({ record, problem })
      else if (!('problem' in flow)) shelf.put(flow)
    }
    for (const flow of hopeless) await end(flow)
  }

  /** One that cannot go on. */
  const end = async (flow: Unreadable): Promise<void> => {
    try {
      await stopSteps(flow, deps)
    } catch (error) {
      return onError(error)
    }
    await send([{ flow, made: giveUp(flow) }])
  }

  const begin = async (): Promise<void> => {
    const lanes = [...toBegin].filter((laneId) => !board.get(laneId)?.isResting)
    toBegin.clear()
    if (lanes.length === 0) return
    const begun = await store.beginFlows({ node: deps.node(), lanes, limit: AT_ONCE })
    // Perhaps there are others; it is asked again before anything else that is new.
    if (begun.length === AT_ONCE) for (const laneId of lanes) toBegin.add(laneId)
    deps.onRuns(begun.map(({ runId }) => runId))
    await take(await readable(begun, true))
  }

  const read = async (): Promise<void> => {
    const runIds = [...toRead].slice(0, AT_ONCE)
    if (runIds.length === 0) return
    for (const runId of runIds) toRead.delete(runId)
    const records = await store.findFlows({ runIds })
    const open = records.filter(({ endedAt }) => endedAt === null)
    const gone = new Set(runIds)
    for (const { runId } of open) gone.delete(runId)
    for (const runId of gone) requests.refuse(runId)
    await take(await readable(open, false))
  }

  /** One that cannot be read now is found again by the next sweep. */
  const readable = async (records: Parameters<typeof loadFlows>[0], isNew: boolean) => {
    try {
      return await loadFlows(records, isNew, deps)
    } catch (error) {
      onError(error)
      return []
    }
  }

  const sweep = async (): Promise<void> => {
    const [now, mono] = [storeNow(), clock.mono()]
    if (mono < sweepMono) return
    sweepMono = mono + SWEEP_MS
    for (const { id } of board.lanes()) if (board.get(id)?.isFlow) toBegin.add(id)
    // Nobody else knows of these: they may have no news and no time to be looked at.
    for (const runId of requests.flows()) stir(runId)
    const places = await store.restlessFlows({ limit: RESTLESS, olderThanMs: sweepAgeMs })
    sweepAgeMs = SWEEP_MS
    for (const { runId, revision } of places) {
      if (refusals.isLeftAlone(runId)) continue
      const flow = shelf.get(runId)
      const isAsWeKnow = flow?.revision === revision
      // Its time has come, or it is about to be moved anyway; else there is something we have not heard.
      if (isAsWeKnow && flow.lookAt !== null && flow.lookAt <= now) shelf.stir(runId)
      else if (!isAsWeKnow || !shelf.isRestive(runId)) reread(runId)
    }
  }

  const move = async (): Promise<void> => {
    const flows = shelf.takeRestive(AT_ONCE)
    if (flows.length === 0) return
    const limit = Math.max(1, Math.floor(STEPS_AT_ONCE / flows.length))
    const moves = await Promise.all(
      flows.map(async (flow): Promise<Sent[]> => {
        try {
          const asked = requests.next(flow)
          return [{ flow, made: await makeMove(flow, asked, limit, deps) }]
        } catch (error) {
          // What it knows is half of something. The sweep comes back to it.
          shelf.drop(flow.record.runId)
          onError(error)
          return []
        }
      }),
    )
    await send(moves.flat())
    for (const flow of flows) stopping.note(flow)
  }

  /** One that the store refuses must not keep the others from going on. */
  const send = async (sent: readonly Sent[]): Promise<void> => {
    if (sent.length === 0) return
    const moves = sent.map(({ made }) => made.move)
    const promised = deps.handOver(moves.flatMap(({ starts }) => starts.map(({ run }) => run)))
    const advancing = store.advanceFlows({ node: deps.node(), moves })
    const result = await advancing.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.broken(outcome === 'unknown')
      if (outcome === 'refused') return error as StoreError
      // Whether it happened or not, the store knows.
      for (const { runId } of moves) reread(runId)
      throw error
    })
    if (!(result instanceof StoreError)) {
      void promised.kept(result.started, result.now)
      apply(sent, result)
      await Promise.all(sent.map(({ made }) => made.settle()))
    } else if (sent.length === 1) leaveAlone((moves[0] as FlowMove).runId, result)
    else {
      const half = Math.ceil(sent.length / 2)
      await send(sent.slice(0, half))
      await send(sent.slice(half))
    }
  }

  const leaveAlone = (runId: number, error: StoreError) => {
    shelf.drop(runId)
    onError(error)
    // What somebody decided was part of it: perhaps it goes on without that.
    if (requests.fail(runId)) return void toRead.add(runId)
    refusals.note(runId, error)
  }

  const apply = (sent: readonly Sent[], result: FlowAdvance) => {
    const changed: number[] = []
    for (const [index, { flow, made }] of sent.entries()) {
      const { runId, starts, end } = made.move
      if (result.verdicts[index] === 'behind') {
        reread(runId)
        continue
      }
      refusals.forget(runId)
      for (const { run } of starts) changed.push(run.id)
      if (end) {
        changed.push(runId)
        deps.onEnded(runId)
      }
      if (!('problem' in flow)) advanced(flow, made)
      if (end) requests.refuse(runId)
    }
    if (changed.length > 0) deps.onRuns(changed)
    tell(result)
  }

  const advanced = (flow: HeldFlow, { move: { runId, end }, isMore }: MadeMove) => {
    requests.answer(runId)
    flow.revision += 1
    if (shelf.get(runId) !== flow) return
    if (end) shelf.drop(runId)
    else if (isMore || flow.inbox.length > 0 || requests.has(runId)) shelf.stir(runId)
  }

  const release = async (): Promise<void> => {
    const runs = [...toRelease].slice(0, RELEASE)
    if (runs.length === 0) return
    for (const runId of runs) toRelease.delete(runId)
    tell(await store.recheck({ limit: 0, recheckMs: RECHECK_MS, runs }))
    deps.onRuns(runs)
  }

  const tell = ({ lanes, nextDueAt, news }: Pick<FlowAdvance, 'lanes' | 'nextDueAt' | 'news'>) => {
    if (lanes.length > 0) deps.onReady(lanes)
    if (nextDueAt !== null) deps.onTimer(nextDueAt)
    hear(news)
  }

  const hearOne = (one: News): void => {
    if (one.kind === 'need') return void toRelease.add(one.runId)
    if (one.kind === 'cancel') return reread(one.flowId)
    if (one.kind === 'followed') return deps.onFollowed()
    const flow = shelf.get(one.flowId)
    if (flow) {
      flow.inbox.push(one)
      shelf.stir(one.flowId)
    } else if (!toRead.has(one.flowId)) {
      sweepAgeMs = OTHERS_MS
      sweepMono = Math.min(sweepMono, clock.mono() + OTHERS_MS)
    }
  }

  const hear = (news: readonly News[]): void => {
    for (const one of news) hearOne(one)
    if (news.length > 0) deps.wake()
  }

  return {
    async step() {
      if (!deps.mayMove()) return { more: false, idleMs: SWEEP_MS }
      await sweep()
      await begin()
      await release()
      await read()
      await move()
      await stopping.tellSome()
      const isBusy = shelf.hasRestive || toRead.size + toBegin.size + toRelease.size > 0
      const more = isBusy || !stopping.isEmpty
      return { more, idleMs: Math.max(1, sweepMono - clock.mono()) }
    },
    hear,
    ready(laneId) {
      toBegin.add(laneId)
      deps.wake()
    },
    ask(runId, request, gone) {
      stir(runId)
      deps.wake()
      return requests.add(runId, request, gone)
    },
    forget() {
      shelf.clear()
      toRead.clear()
      sweepMono = Number.NEGATIVE_INFINITY
    },
  }
}

interface Sent {
  readonly flow: HeldFlow | Unreadable
  readonly made: MadeMove
}
