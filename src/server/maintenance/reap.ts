import type { Clock } from '../../core/clock.ts'
import type { Report } from '../../core/run/end-attempt.ts'
import type { Work } from '../../core/work/work.ts'
import type { Lease, NodeStore, SweepStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Membership } from '../cluster/membership.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Step } from '../loops/run-loop.ts'

/** The reaper only finds. What it finds is ended like everything else: by the tick. */
export type End = (leases: readonly Lease[], report: Report, owner: number) => Promise<void>

/** Sessions that fell silent lose their leases; measured by the monotonic clock, never by the wall. */
export function reapSessions(deps: {
  store: Pick<NodeStore, 'loseSession'>
  clock: Clock
  config: NodeConfig
  roster: Roster
  membership: Membership
  definitions: Pick<Definitions, 'learn' | 'workOf'>
  end: End
}): Step {
  const { clock, config, roster, membership, definitions, end } = deps
  return async () => {
    const nowMono = clock.mono()
    for (const session of [...roster.sessions.values()]) {
      if (nowMono - session.lastSeenMono <= session.ttlMs + config.reapMarginMs) continue
      session.pending?.settle()
      await end(roster.remove(session), { kind: 'lost' }, membership.node)
      const { id, registration } = session
      await deps.store.loseSession({ session: id, registration })
    }
    const late = [...roster.allLeases()].filter((lease) => isLate(lease, clock.mono(), config))
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

/** Who is being stopped politely still runs: given to another, it would run twice. */
function graceOf(work: Work | null): number {
  return work?.kill_grace_ms ?? 0
}

const BATCH = 500

/**
 * Nodes whose row expired are declared dead, and leases that nobody took over are lost. Only a node
 * whose own row has been renewed for a full TTL may judge: right after an outage everyone looks dead.
 */
export function reapNodes(deps: {
  store: Pick<NodeStore, 'buryDead'> & Pick<SweepStore, 'orphans'>
  membership: Membership
  end: End
}): Step {
  let after = 0
  return async () => {
    if (!deps.membership.isSteady()) return { more: false }
    if (after === 0) await deps.store.buryDead()
    const orphans = await deps.store.orphans({ after, limit: BATCH })
    for (const [owner, leases] of Map.groupBy(orphans, (lease) => lease.node)) {
      await deps.end(leases, { kind: 'lost' }, owner)
    }
    const more = orphans.length === BATCH
    after = more ? (orphans.at(-1)?.runId ?? 0) : 0
    return { more }
  }
}
