import { lastEnds } from './step-trace-lines.ts'
import type { WorkflowHistory } from './workflow-invariants.ts'

/** A run after which another is to start, and the end it must have had. */
export interface FollowerNeed {
  readonly run: string
  readonly on: 'ok' | 'notok' | 'any'
}

type History = Pick<WorkflowHistory, 'followers' | 'lines' | 'dump'>

/** A follower begins after all its runs if they ended as required, and otherwise never. */
export function followerInvariants({ followers, lines, dump }: History): string[] {
  const states = new Map(dump.runs.map(({ run, state }) => [run, state]))
  const isMet = ({ run, on }: FollowerNeed) =>
    on === 'any' || (on === 'ok') === (states.get(run) === 'succeeded')
  const ends = lastEnds(lines)
  const begins = new Map<string, number>()
  for (const [at, { what, run }] of lines.entries()) {
    if (what === 'begin' && !begins.has(run)) begins.set(run, at)
  }
  return [...followers].flatMap(([follower, needs]) => {
    const state = states.get(follower)
    if (state === undefined) return [`${follower} was acknowledged and does not exist`]
    const right = needs.every(isMet) ? 'run' : 'be skipped'
    if ((state === 'skipped') !== (right === 'be skipped')) {
      return [`${follower} is ${state}, and was to ${right}`]
    }
    const beganAt = begins.get(follower) ?? Infinity
    // Of a failed run only the last attempt counts, and that one may have been killed.
    const early = needs.filter(
      ({ run }) => states.get(run) === 'succeeded' && (ends.get(run) ?? -1) > beganAt,
    )
    return early.map(({ run }) => `${follower} began before ${run} ended`)
  })
}
