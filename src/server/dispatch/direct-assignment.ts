import type { Clock, Random } from '../../core/clock.ts'
import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import type { NewRun } from '../../store/port.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Session } from '../sessions/session.ts'
import { handedOff, release } from './grants.ts'
import { createHandOff } from './find-waiting-session.ts'
import type { HeldGrant, HeldGrants } from './scheduled-assignments.ts'
import type { LaneBoard } from './lane-index.ts'

/** Runs that are on their way to the store by another road than a tick, promised to sessions that wait. */
export interface Promised {
  /**
   * It is durable. These went to whom they were promised, at that time of the store; the others did not.
   * If it is still so long until then, nobody hears of them before. Resolves when they have.
   */
  kept(started: readonly number[], now: number, aheadMs?: number): Promise<void>
  /** It did not happen, or nobody knows. */
  broken(isUnknown: boolean): void
}

/** Chooses sessions for new runs that may start at once, and writes into the runs whose they are. */
export type HandOver = (runs: readonly NewRun[]) => Promised

export interface HandingOver {
  readonly roster: Roster
  readonly board: LaneBoard
  readonly clock: Clock
  readonly random: Random
  node(): number
  mayGrant(): boolean
  readonly held: Pick<HeldGrants, 'keep'>
  /** These may be leased, and no session was told of them. */
  onUnknown(runs: readonly NewRun[]): void
}

const NOBODY: Promised = { kept: async () => {}, broken: () => {} }

export function createHandOver(deps: HandingOver): HandOver {
  const { roster, board, clock, random } = deps

  const choose = (runs: readonly NewRun[]): Map<NewRun, Session> => {
    const chosen = new Map<NewRun, Session>()
    // Whoever could serve a line that is there does that first, by the next tick.
    const sessionFor = createHandOff(
      { roster, board, mono: clock.mono() },
      (_, view) => view.open().length > 0,
    )
    for (const run of runs) {
      const hint = run.after === undefined ? board.get(run.laneId) : undefined
      const session = hint && sessionFor(hint)
      run.handOff = session ? { session: session.id, fence: fenceOf(1, drawSalt(random)) } : null
      if (!session) continue
      session.promised += hint.lane.weight
      chosen.set(run, session)
    }
    for (const session of new Set(chosen.values())) roster.requeue(session)
    return chosen
  }

  const weightOf = ({ laneId }: NewRun) => board.get(laneId)?.lane.weight ?? 1

  return (runs) => {
    if (!deps.mayGrant()) {
      for (const run of runs) run.handOff = null
      return NOBODY
    }
    const node = deps.node()
    const chosen = choose(runs)
    if (chosen.size === 0) return NOBODY
    return {
      kept(started, now, aheadMs = 0) {
        const touched = new Set<Session>()
        const went = new Set(started)
        const grants: HeldGrant[] = []
        for (const [run, session] of chosen) {
          const weight = weightOf(run)
          if (went.has(run.id)) grants.push({ session, lease: handedOff(run, node, now), weight })
          else release(session, weight, touched)
        }
        for (const session of touched) roster.review(session)
        return deps.held.keep(grants, aheadMs)
      },
      broken(isUnknown) {
        const touched = new Set<Session>()
        for (const [run, session] of chosen) release(session, weightOf(run), touched)
        for (const session of touched) roster.review(session)
        if (isUnknown) deps.onUnknown([...chosen.keys()])
      },
    }
  }
}
