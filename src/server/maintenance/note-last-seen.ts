import type { Clock } from '../../core/clock.ts'
import type { NodeStore, TokenStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { Session } from '../sessions/session.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Authenticator } from '../identity/authenticator.ts'

/** Minimum interval between writes: thousands of workers send a heartbeat every three seconds. */
const MIN_PERIOD_MS = 60_000
/** Workers of the compatibility protocols are few, and their programs read nothing else. */
const COMPAT_MIN_PERIOD_MS = 4_000
const MOST = 1_000

/**
 * Stores from time to time when workers were last seen. Only users read it; no decision depends on
 * it.
 */
export function noteLastSeen(deps: {
  readonly store: Pick<NodeStore, 'touchSessions'>
  readonly clock: Clock
  readonly config: Pick<NodeConfig, 'leaseTtlMs'>
  readonly sessionIndex: Pick<SessionIndex, 'sessions'>
  readonly membership: { storeNow(): number }
}): LoopStep {
  const { clock, config, sessionIndex } = deps
  const isNews = ({ ttlMs, lastSeenMono, notedMono }: Session) =>
    lastSeenMono - notedMono >= (ttlMs === config.leaseTtlMs ? MIN_PERIOD_MS : COMPAT_MIN_PERIOD_MS)
  return async () => {
    const updates = [...sessionIndex.sessions.values()].filter(isNews).slice(0, MOST)
    if (updates.length === 0) return { more: false }
    const [nowMono, now] = [clock.mono(), deps.membership.storeNow()]
    for (const session of updates) session.notedMono = session.lastSeenMono
    await deps.store.touchSessions(
      updates.map(({ id, lastSeenMono }) => ({
        session: id,
        at: Math.round(now - (nowMono - lastSeenMono)),
      })),
    )
    return { more: updates.length === MOST }
  }
}

/** Stores from time to time which tokens were used: users check that before they revoke one. */
export function noteUses(deps: {
  store: Pick<TokenStore, 'touchTokens'>
  authenticator: Pick<Authenticator, 'takeUses'>
}): LoopStep {
  return async () => {
    const uses = deps.authenticator.takeUses()
    if (uses.length > 0) await deps.store.touchTokens(uses)
    return { more: false }
  }
}
