import type { CancelCommand, EndCommand, NewRun, TickBatch } from '../../port.ts'
import { startsAfter } from '../../run-options.ts'
import { isKeyed } from './submit-keys.ts'

/**
 * A batch prepared for the statements: sorted by id, so that two ticks lock in the same order, and
 * without repeats, because one statement cannot update a row twice.
 */
export interface TickPlan {
  readonly submits: readonly NewRun[]
  readonly keyed: readonly NewRun[]
  /** Runs that start after other runs. */
  readonly followers: readonly NewRun[]
  /**
   * Indexes into `batch.ends`. A second report of the same attempt goes into a second round:
   * whether it may end the attempt depends on the result of the first.
   */
  readonly endRounds: readonly (readonly number[])[]
  readonly cancels: readonly CancelCommand[]
  /** The batch itself contains gated runs, whatever the stored rows say. */
  readonly hasGated: boolean
}

export function planTick({ submits, ends, cancels }: TickBatch): TickPlan {
  const firsts = uniqueBy(submits, ({ id }) => id)
  return {
    submits: firsts.toSorted((a, b) => a.id - b.id),
    // In the order of arrival: the first of two runs with one key gets it.
    keyed: firsts.filter(isKeyed),
    followers: firsts.filter(startsAfter),
    endRounds: roundsOf(ends),
    cancels: uniqueBy(cancels, nameOfCancel).toSorted((a, b) => a.runId - b.runId),
    hasGated: submits.some(({ gates }) => gates.length > 0),
  }
}

export function nameOfAttempt({ runId, fence }: { runId: number; fence: number }): string {
  return `${runId} ${fence}`
}

export function nameOfCancel({ runId, projectId }: CancelCommand): string {
  return `${runId} ${projectId}`
}

function roundsOf(ends: readonly EndCommand[]): number[][] {
  const rounds: number[][] = []
  // Most batches end each run once: then one round is enough.
  if (new Set(ends.map(({ runId }) => runId)).size === ends.length) rounds.push([...ends.keys()])
  else rounds.push(...roundsByAttempt(ends))
  return rounds
    .filter((round) => round.length > 0)
    .map((round) => round.toSorted((a, b) => ends[a]!.runId - ends[b]!.runId))
}

function roundsByAttempt(ends: readonly EndCommand[]): number[][] {
  const rounds: number[][] = []
  const seen = new Map<string, number>()
  for (const [index, end] of ends.entries()) {
    const name = nameOfAttempt(end)
    const round = seen.get(name) ?? 0
    seen.set(name, round + 1)
    ;(rounds[round] ??= []).push(index)
  }
  return rounds
}

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => unknown): readonly T[] {
  const seen = new Set<unknown>()
  const first = items.filter((item) => {
    const { size } = seen
    return seen.add(keyOf(item)).size > size
  })
  return first.length === items.length ? items : first
}
