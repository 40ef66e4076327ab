import { stateOfCode } from '../../../src/core/run/run-state.ts'
import type { NeedSeen, RunSeen } from './watch-workflows.ts'

type Need = Pick<NeedSeen, 'needed_id' | 'wants'>

interface Follower {
  readonly needs: Need[]
  outcome: 'waits' | 'released' | 'skipped' | 'cancelled'
}

const [BLOCKED, SUCCEEDED, CANCELLED, SKIPPED] = [3, 4, 6, 7]

/** Runs that start after others: each is released or skipped once, and only when its conditions allow. */
export interface FollowerInvariants {
  need(seen: NeedSeen): void
  run(seen: RunSeen): void
  started(runId: number): void
  /** Runs that still wait although all their conditions are decided. */
  neglected(): string[]
  readonly count: number
}

export function createFollowerInvariants(
  violate: (invariant: string, detail: string) => void,
): FollowerInvariants {
  const followers = new Map<number, Follower>()
  const states = new Map<number, number>()

  const verdictOn = ({ needs }: Follower): 'waits' | 'released' | 'skipped' => {
    const ends = needs.map(({ needed_id: id, wants }) => ({ wants, state: states.get(id) ?? -1 }))
    const isBroken = ends.some(
      ({ wants, state }) =>
        state >= SUCCEEDED && wants !== 'any' && (wants === 'ok') !== (state === SUCCEEDED),
    )
    if (isBroken) return 'skipped'
    return ends.every(({ state }) => state >= SUCCEEDED) ? 'released' : 'waits'
  }

  const leave = (runId: number, follower: Follower, state: number) => {
    const verdict = verdictOn(follower)
    follower.outcome =
      state === CANCELLED ? 'cancelled' : state === SKIPPED ? 'skipped' : 'released'
    if (follower.outcome !== 'cancelled' && follower.outcome !== verdict) {
      violate(
        'I19 a run that follows others',
        `run ${runId} was ${follower.outcome}: it ${verdict}`,
      )
    }
  }

  return {
    get count() {
      return followers.size
    },
    need({ run_id: runId, ...need }) {
      const follower = followers.get(runId) ?? { needs: [], outcome: 'waits' }
      follower.needs.push(need)
      followers.set(runId, follower)
    },
    run({ run_id: runId, was, is_now: state }) {
      states.set(runId, state)
      const follower = followers.get(runId)
      if (!follower || was === null) return
      if (follower.outcome === 'waits') return leave(runId, follower, state)
      if (state !== SKIPPED && !(state === BLOCKED && was !== BLOCKED)) return
      const detail = `run ${runId} became ${stateOfCode(state)} after it was ${follower.outcome}`
      violate('a run that follows others is let go once', detail)
    },
    started(runId) {
      const outcome = followers.get(runId)?.outcome
      if (outcome === 'waits' || outcome === 'skipped') {
        violate('I19 a run started that follows others', `run ${runId} ${outcome}`)
      }
    },
    neglected: () =>
      [...followers]
        .filter(([, one]) => one.outcome === 'waits' && verdictOn(one) !== 'waits')
        .map(([runId]) => `run ${runId} still waits for runs that have ended`),
  }
}
