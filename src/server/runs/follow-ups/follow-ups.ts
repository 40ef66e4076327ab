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
import type { Outcome } from '../../loops/run-loop.ts'
import { keepInputs, type KeptRun } from '../submit-large.ts'
import type { HandOver } from '../../dispatch/direct-assignment.ts'
import { createDraftFollowUps, type DraftDeps } from './draft-follow-ups.ts'

/** So many are settled in one transaction. */
const AT_ONCE = 100
/** How often a node looks for what somebody else left open. */
export const LOOK_MS = 1_000
/** How long those that cannot be settled for now are left alone, and how many at most stand back for others. */
const LATER_MS = 2_000
const MOST_LATER = 1_000

export interface FollowingDeps extends DraftDeps {
  readonly store: DraftDeps['store'] & Pick<FollowStore, 'openFollowUps' | 'settleFollowUps'>
  node(): number
  /** Whether this node is in touch with the store: only then are ids and clock its own. */
  mayFollow(): boolean
  /** Runs go straight to workers that wait. */
  readonly handOver: HandOver
  /** Lanes have work. */
  onReady(lanes: readonly number[]): void
  onRuns(runIds: readonly number[]): void
  onError(error: unknown): void
}

/** Makes the runs of jobs that run after others, or says why there are none. Any node does it for all. */
export interface Following {
  step(): Promise<Outcome>
}

/** An end, and what it comes to: nothing is decided before the store has taken it. */
interface Answer {
  readonly due: FollowUp
  readonly made: KeptRun | Error
}

export function createFollowing(deps: FollowingDeps): Following {
  const { store, payloads, storeNow } = deps
  const draft = createDraftFollowUps(deps)
  /** Until when those that could not be settled are left alone. */
  const later = new Map<string, number>()

  /** The oldest that are open, but for those that have just been tried. */
  const findDue = async (): Promise<FollowUp[]> => {
    const limit = AT_ONCE + Math.min(later.size, MOST_LATER)
    const open = await store.openFollowUps({ limit })
    const keys = new Set(open.map(keyOf))
    for (const [key, until] of later) {
      if (until <= storeNow() || !keys.has(key)) later.delete(key)
    }
    return open.filter((one) => !later.has(keyOf(one))).slice(0, AT_ONCE)
  }

  const putOff = (due: FollowUp, error: Error): void => {
    later.set(keyOf(due), storeNow() + LATER_MS)
    deps.onError(error)
  }

  /** What the server is at fault for is tried again, for nothing is wrong with what is to follow. */
  const isDecided = ({ due, made }: Answer): boolean => {
    if (!(made instanceof PunctualError) || !made.isPassing) return true
    putOff(due, made)
    return false
  }

  const settle = async (answers: readonly Answer[]): Promise<void> => {
    const runs = answers.flatMap(({ made }) => ('run' in made ? [made.run] : []))
    const promised = deps.handOver(runs)
    const settling = store.settleFollowUps({ node: deps.node(), settled: answers.map(settled) })
    const result = await settling.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.broken(outcome === 'unknown')
      if (outcome !== 'refused') throw error
      return error as StoreError
    })
    if (result instanceof StoreError) return settleApart(answers, result)
    void promised.kept(result.started, result.now)
    const ours = new Set(result.made)
    for (const { made } of answers)
      if ('run' in made && ours.has(made.run.id)) await made.settle?.()
    if (result.lanes.length > 0) deps.onReady(result.lanes)
    if (result.made.length > 0) deps.onRuns(result.made)
  }

  /** One that the store refuses must not keep the others from going on, nor be tried for ever. */
  const settleApart = async (answers: readonly Answer[], error: StoreError): Promise<void> => {
    if (answers.length > 1) {
      const half = Math.ceil(answers.length / 2)
      await settle(answers.slice(0, half))
      return settle(answers.slice(half))
    }
    const { due, made } = answers[0] as Answer
    if ('run' in made) return settle([{ due, made: error }])
    // Not even the reason is taken: only somebody who reads the log can help.
    putOff(due, error)
  }

  return {
    async step() {
      if (!deps.mayFollow()) return { more: false, idleMs: LOOK_MS }
      const due = await findDue()
      if (due.length === 0) return { more: false, idleMs: LOOK_MS }
      for (let left = due; left.length > 0;) {
        const node = deps.node()
        const kept = await keepInputs(await draft(left), payloads)
        // Ids of an earlier life mean nothing to this one.
        if (deps.node() !== node) return { more: true }
        const answers = kept.map((made, nth) => ({ due: left[nth] as FollowUp, made }))
        const decided = answers.filter(isDecided)
        if (decided.length > 0) await settle(decided)
        left = left.slice(kept.length)
      }
      return { more: due.length === AT_ONCE, idleMs: LOOK_MS }
    },
  }
}

function keyOf({ sourceRunId, jobId }: FollowUp): string {
  return `${sourceRunId}/${jobId}`
}

function settled({ due: { sourceRunId, jobId }, made }: Answer): SettledFollowUp {
  const outcome: { run: NewRun } | { reason: string } =
    'run' in made ? { run: made.run } : { reason: reasonOf(made) }
  return { sourceRunId, jobId, outcome }
}

/** It may quote what runs gave, whatever that is. */
function reasonOf({ message }: Error): string {
  return storable(message.slice(0, LIMITS.reasonLength))
}
