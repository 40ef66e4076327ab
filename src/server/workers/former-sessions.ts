import { requirePublicId } from '../../core/ids.ts'
import type { Lane } from '../../core/queue/lane.ts'
import type { Lease, NodeStore, SweepStore } from '../../store/port.ts'
import type { EndLeases } from '../runs/attempt-ender.ts'

/**
 * Sessions of workers that belonged to an earlier server process. Once it is proved that none of
 * their processes is left, their leases need not expire first.
 */
export interface FormerSessions {
  /** Records what is waited for, to explain why a run still counts as running. */
  await(sessions: readonly string[], what: string): void
  /** Ends all attempts of these sessions as lost. The caller has proved that none of them runs. */
  release(sessions: readonly string[]): Promise<void>
  /** What is waited for before the attempts of a former session count as lost. */
  awaitedFor(session: number): string | undefined
}

export function createFormerSessions(deps: {
  readonly store: Pick<NodeStore, 'loadSession' | 'markSessionLost'> &
    Pick<SweepStore, 'findAttempts'>
  laneOf(lease: Lease): Lane | undefined
  readonly end: EndLeases
}): FormerSessions {
  const { store, laneOf, end } = deps
  const awaited = new Map<number, string>()
  const idOf = (session: string) => requirePublicId('ses', session, 'session')

  const releaseOne = async (session: number) => {
    const known = await store.loadSession({ session })
    if (!known) return
    const found = await store.findAttempts(known.held)
    const leases = found.flatMap((one) => (one.kind === 'lease' ? [one.lease] : []))
    // A container belongs to its engine and not to a launcher: it may run on until it is removed.
    const proved = leases.filter((lease) => lease.session === session && mayRelease(lease))
    // By owner: a lease that another node has adopted meanwhile stays.
    for (const [owner, own] of Map.groupBy(proved, ({ node }) => node)) {
      await end(own, { kind: 'lost' }, owner)
    }
    await store.markSessionLost({ session, registration: known.registration })
  }
  const mayRelease = (lease: Lease) => {
    const executor = laneOf(lease)?.executor
    return executor !== undefined && executor !== 'container'
  }

  return {
    await(sessions, what) {
      for (const session of sessions) awaited.set(idOf(session), what)
    },
    async release(sessions) {
      for (const session of sessions) {
        await releaseOne(idOf(session))
        awaited.delete(idOf(session))
      }
    },
    awaitedFor: (session) => awaited.get(session),
  }
}
