import type { Clock } from '../../core/clock.ts'
import type { Lease, SweepStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Membership } from '../cluster/membership.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { EndLeases } from '../runs/attempt-ender.ts'

const PAGE = 1_000

export interface OwnLeasesDeps {
  readonly clock: Clock
  readonly config: NodeConfig
  readonly store: Pick<SweepStore, 'ownLeases'>
  readonly membership: Membership
  readonly sessionIndex: SessionIndex
  readonly ticker: Ticker
  readonly undelivered: UndeliveredGrants
  giveBack(leases: readonly Lease[]): void
  isEnding(lease: Lease): boolean
  readonly end: EndLeases
}

/**
 * Compares the leases of this node in the store with those its sessions hold. A lease the store no
 * longer has belongs to another node now; the worker learns that at its next heartbeat.
 */
export function checkOwnLeases(deps: OwnLeasesDeps): LoopStep {
  const { clock, membership, sessionIndex, ticker } = deps
  let unheldSince = new Map<string, number>()
  return async () => {
    const startedMono = clock.mono()
    const { node } = membership
    // Under load runs arrive as fast as they can be read: this pass ends at those that existed when
    // it began.
    const upTo = membership.mintId()
    const stored = await readOwn(deps.store, node, upTo)
    // Grants of ticks that ran during the read are not in memory yet.
    await ticker.settled()
    if (membership.node !== node) return { more: false }
    const unheld: Lease[] = []
    for (const lease of stored.values()) {
      const held = sessionIndex.leaseOf(lease.runId)
      if (held?.fence === lease.fence) held.cancelling ||= lease.cancelling
      else if (!deps.isEnding(lease)) unheld.push(lease)
    }
    unheldSince = await judge(unheld, unheldSince, deps)
    for (const held of [...sessionIndex.allLeases()]) {
      if (held.grantedMono >= startedMono || held.runId > upTo) continue
      if (stored.get(held.runId)?.fence === held.fence) continue
      sessionIndex.drop(held.runId, held.fence)
    }
    return { more: false }
  }
}

/**
 * A lease that no session holds has two possible causes. A commit whose outcome was unknown: it is
 * returned uncounted. Or its worker is returning to this node: it counts as lost after the time any
 * silent worker gets. Returns since when the latter have been waited for.
 */
async function judge(
  unheld: readonly Lease[],
  since: ReadonlyMap<string, number>,
  deps: OwnLeasesDeps,
): Promise<Map<string, number>> {
  const { clock, config, undelivered } = deps
  deps.giveBack(unheld.filter(undelivered.has))
  const waiting = new Map<string, number>()
  const lost: Lease[] = []
  for (const lease of unheld) {
    if (undelivered.has(lease)) continue
    const key = `${lease.runId}/${lease.fence}`
    const sinceMono = since.get(key) ?? clock.mono()
    if (clock.mono() - sinceMono > config.leaseTtlMs + config.reapMarginMs) lost.push(lease)
    else waiting.set(key, sinceMono)
  }
  await deps.end(lost, { kind: 'lost' }, deps.membership.node)
  return waiting
}

async function readOwn(
  store: OwnLeasesDeps['store'],
  node: number,
  upTo: number,
): Promise<Map<number, Lease>> {
  const stored = new Map<number, Lease>()
  for (let after = 0, page = PAGE; page === PAGE && after < upTo;) {
    const leases = await store.ownLeases({ node, after, limit: PAGE })
    for (const lease of leases) stored.set(lease.runId, lease)
    page = leases.length
    after = leases.at(-1)?.runId ?? 0
  }
  return stored
}
