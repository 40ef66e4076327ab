import { lastEnds } from './step-trace-lines.ts'
import type { WorkflowHistory } from './workflow-invariants.ts'

/** A run that another is to start after, and how it has to have ended. */
export interface Need {
  readonly run: string
  readonly on: 'ok' | 'notok' | 'any'
}

type History = Pick<WorkflowHistory, 'followers' | 'lines' | 'dump'>

/** Who follows others begins after all of them, if they ended as they should, and else never. */
export function followerLaws({ followers, lines, dump }: History): string[] {
  const states = new Map(dump.runs.map(({ run, state }) => [run, state]))
  const isMet = ({ run, on }: Need) =>
    on === 'any' || (on === 'ok') === (states.get(run) === 'succeeded')
  const ends = lastEnds(lines)
  const begins = new Map<string, number>()
  for (const [at, { what, run }] of lines.entries()) {
    if (what === 'begin' && !begins.has(run)) begins.set(run, at)
  }
  return [...followers].flatMap(([follower, needs]) => {
    const state = states.get(follower)
    if (state === undefined) return [`${follower} was acknowledged and is not there`]
    const right = needs.every(isMet) ? 'run' : 'be skipped'
    if ((state === 'skipped') !== (right === 'be skipped')) {
      return [`${follower} is ${state}, and was to ${right}`]
    }
    const beganAt = begins.get(follower) ?? Infinity
    // Of what failed only the last try counts, and that one may have been killed.
    const early = needs.filter(
      ({ run }) => states.get(run) === 'succeeded' && (ends.get(run) ?? -1) > beganAt,
    )
    return early.map(({ run }) => `${follower} began before ${run} ended`)
  })
}
