import { sendInHalves } from '../../loops/send-in-halves.ts'
import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import { storable } from '../../../core/text/storable.ts'
import {
  type FollowStore,
  type FollowUp,
  type NewRun,
  type SettledFollowUp,
  StoreError,
} from '../../../store/port.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import type { LoopOutcome } from '../../loops/run-loop.ts'
import { keepInputs, type KeptRun } from '../../payloads/keep-inputs.ts'
import type { AssignDirectly } from '../../dispatch/direct-assignment.ts'
import { createDraftFollowUps, type DraftFollowUpsDeps } from './draft-follow-ups.ts'

/** Maximum number of follow-ups settled in one transaction. */
const AT_ONCE = 100
/** How often a node looks for follow-ups that other nodes left open. */
export const FOLLOW_UP_PERIOD_MS = 1_000
/** How long follow-ups that cannot be settled are postponed, and how many at most. */
const RETRY_DELAY_MS = 2_000
const MOST_LATER = 1_000

export interface FollowUpsDeps extends DraftFollowUpsDeps {
  readonly store: DraftFollowUpsDeps['store'] &
    Pick<FollowStore, 'openFollowUps' | 'settleFollowUps'>
  readonly clock: Pick<Clock, 'mono'>
  node(): number
  /** Whether this node is in contact with the store: only then may it use its ids and its clock. */
  maySettle(): boolean
  /** Assigns runs directly to waiting workers. */
  readonly assignDirectly: AssignDirectly
  readonly signals: Pick<NodeSignals, 'lanesReady' | 'runsChanged'>
  onError(error: unknown): void
}

/**
 * Starts the runs of jobs that follow other runs, or records why there are none. Any node does it
 * for all.
 */
export interface FollowUps {
  step(): Promise<LoopOutcome>
}

/**
 * An ended run and the result for its follower: nothing is decided before the store has accepted
 * it.
 */
interface FollowUpResult {
  readonly due: FollowUp
  readonly made: KeptRun | Error
}

export function createFollowUps(deps: FollowUpsDeps): FollowUps {
  const { store, payloads, clock } = deps
  const draft = createDraftFollowUps(deps)
  /** Until when postponed follow-ups are left alone, by the monotonic clock. */
  const later = new Map<string, number>()

  /** The oldest open follow-ups, without those postponed. */
  const findDue = async (): Promise<FollowUp[]> => {
    const limit = AT_ONCE + Math.min(later.size, MOST_LATER)
    const open = await store.openFollowUps({ limit })
    const keys = new Set(open.map(keyOf))
    for (const [key, untilMono] of later) {
      if (untilMono <= clock.mono() || !keys.has(key)) later.delete(key)
    }
    return open.filter((one) => !later.has(keyOf(one))).slice(0, AT_ONCE)
  }

  const putOff = (due: FollowUp, error: Error): void => {
    later.set(keyOf(due), clock.mono() + RETRY_DELAY_MS)
    deps.onError(error)
  }

  /** A fault of the server is retried, because nothing is wrong with the follow-up itself. */
  const isDecided = ({ due, made }: FollowUpResult): boolean => {
    if (!(made instanceof PunctualError) || !made.isPassing) return true
    putOff(due, made)
    return false
  }

  const settle = async (answers: readonly FollowUpResult[]): Promise<void> => {
    const runs = answers.flatMap(({ made }) => ('run' in made ? [made.run] : []))
    const promised = deps.assignDirectly(runs)
    const settling = store.settleFollowUps({ node: deps.node(), settled: answers.map(settled) })
    const result = await settling.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.failed(outcome === 'unknown')
      if (outcome !== 'refused') throw error
      return error as StoreError
    })
    if (result instanceof StoreError) return settleInHalves(answers, result)
    void promised.committed(result.started, result.now)
    const ours = new Set(result.made)
    for (const { made } of answers)
      if ('run' in made && ours.has(made.run.id)) await made.settle?.()
    if (result.lanes.length > 0) deps.signals.lanesReady(result.lanes)
    if (result.made.length > 0) deps.signals.runsChanged(result.made)
  }

  /** A follow-up that the store refuses must not block the others or be tried for ever. */
  const settleInHalves = async (
    answers: readonly FollowUpResult[],
    error: StoreError,
  ): Promise<void> => {
    if (answers.length > 1) return sendInHalves(answers, settle)
    const { due, made } = answers[0] as FollowUpResult
    if ('run' in made) return settle([{ due, made: error }])
    // The store does not even accept the reason: only an operator who reads the log can help.
    putOff(due, error)
  }

  return {
    async step() {
      if (!deps.maySettle()) return { more: false, idleMs: FOLLOW_UP_PERIOD_MS }
      const due = await findDue()
      if (due.length === 0) return { more: false, idleMs: FOLLOW_UP_PERIOD_MS }
      for (let left = due; left.length > 0;) {
        const node = deps.node()
        const kept = await keepInputs(await draft(left), payloads)
        // Ids of an earlier incarnation mean nothing to this one.
        if (deps.node() !== node) return { more: true }
        const answers = kept.map((made, nth) => ({ due: left[nth] as FollowUp, made }))
        const decided = answers.filter(isDecided)
        if (decided.length > 0) await settle(decided)
        left = left.slice(kept.length)
      }
      return { more: due.length === AT_ONCE, idleMs: FOLLOW_UP_PERIOD_MS }
    },
  }
}

function keyOf({ sourceRunId, jobId }: FollowUp): string {
  return `${sourceRunId}/${jobId}`
}

function settled({ due: { sourceRunId, jobId }, made }: FollowUpResult): SettledFollowUp {
  const outcome: { run: NewRun } | { reason: string } =
    'run' in made ? { run: made.run } : { reason: reasonOf(made) }
  return { sourceRunId, jobId, outcome }
}

/** The message may quote arbitrary data of runs. */
function reasonOf({ message }: Error): string {
  return storable(message.slice(0, LIMITS.reasonLength))
}
