import type { Clock } from '../../core/clock.ts'
import type { NodeStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Session } from '../sessions/session.ts'
import type { Step } from '../loops/run-loop.ts'

/** Written down this often at most: thousands of workers beat every three seconds. */
const OFTEN_MS = 60_000
/** Those that speak the plain protocol are few, and read by programs that look at nothing else. */
const PLAINLY_OFTEN_MS = 4_000
const MOST = 1_000

/** Writes down now and then when workers were last heard of. Nothing depends on it but people. */
export function noteSightings(deps: {
  readonly store: Pick<NodeStore, 'touchSessions'>
  readonly clock: Clock
  readonly config: Pick<NodeConfig, 'leaseTtlMs'>
  readonly roster: Pick<Roster, 'sessions'>
  readonly membership: { storeNow(): number }
}): Step {
  const { clock, config, roster } = deps
  const isNews = ({ ttlMs, lastSeenMono, notedMono }: Session) =>
    lastSeenMono - notedMono >= (ttlMs === config.leaseTtlMs ? OFTEN_MS : PLAINLY_OFTEN_MS)
  return async () => {
    const news = [...roster.sessions.values()].filter(isNews).slice(0, MOST)
    if (news.length === 0) return { more: false }
    const [nowMono, now] = [clock.mono(), deps.membership.storeNow()]
    for (const session of news) session.notedMono = session.lastSeenMono
    await deps.store.touchSessions(
      news.map(({ id, lastSeenMono }) => ({
        ...{ session: id, at: Math.round(now - (nowMono - lastSeenMono)) },
      })),
    )
    return { more: news.length === MOST }
  }
}
