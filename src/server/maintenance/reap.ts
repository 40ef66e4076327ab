import type { Clock } from '../../core/clock.ts'
import type { Work } from '../../core/work/work.ts'
import type { NodeStore, SweepStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Membership } from '../cluster/membership.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { EndLeases } from '../runs/attempt-ender.ts'

/**
 * Ends the sessions that fell silent and their leases; by the monotonic clock, never by the wall
 * clock.
 */
export function reapSessions(deps: {
  store: Pick<NodeStore, 'markSessionLost'>
  clock: Clock
  config: NodeConfig
  sessionIndex: SessionIndex
  membership: Membership
  definitions: Pick<Definitions, 'learn' | 'workOf'>
  end: EndLeases
}): LoopStep {
  const { clock, config, sessionIndex, membership, definitions, end } = deps
  return async () => {
    const nowMono = clock.mono()
    for (const session of [...sessionIndex.sessions.values()]) {
      if (nowMono - session.lastSeenMono <= session.ttlMs + config.reapMarginMs) continue
      session.pending?.settle()
      await end(sessionIndex.remove(session), { kind: 'lost' }, membership.node)
      const { id, registration } = session
      await deps.store.markSessionLost({ session: id, registration })
    }
    const late = [...sessionIndex.allLeases()].filter((lease) =>
      isLate(lease, clock.mono(), config),
    )
    await definitions.learn(late)
    const overdue = late.filter((lease) => {
      return isLate(lease, clock.mono() - graceOf(definitions.workOf(lease)), config)
    })
    await end(overdue, { kind: 'failed', cause: 'timeout' }, membership.node)
    return { more: false }
  }
}

function isLate(lease: HeldLease, mono: number, config: NodeConfig): boolean {
  if (lease.timeoutMs === null) return false
  return mono > lease.grantedMono + lease.timeoutMs + config.timeoutGraceMs
}

/**
 * A process that is being stopped gracefully still runs: a retry on another worker would run it
 * twice.
 */
function graceOf(work: Work | null): number {
  return work?.kill_grace_ms ?? 0
}

const BATCH = 500

/**
 * Declares nodes dead whose row expired, and ends leases that no node took over. Only a node whose
 * own row was renewed for a full TTL may judge: right after an outage every node looks dead.
 */
export function reapNodes(deps: {
  store: Pick<NodeStore, 'declareDeadNodes'> & Pick<SweepStore, 'orphans'>
  membership: Membership
  end: EndLeases
}): LoopStep {
  let after = 0
  return async () => {
    if (!deps.membership.isSteady()) return { more: false }
    if (after === 0) await deps.store.declareDeadNodes()
    const orphans = await deps.store.orphans({ after, limit: BATCH })
    for (const [owner, leases] of Map.groupBy(orphans, (lease) => lease.node)) {
      await deps.end(leases, { kind: 'lost' }, owner)
    }
    const more = orphans.length === BATCH
    after = more ? (orphans.at(-1)?.runId ?? 0) : 0
    return { more }
  }
}
