import type { Clock } from '../../core/clock.ts'
import type { Lease, SweepStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { Undelivered } from '../runs/undelivered-grants.ts'
import type { End } from './reap.ts'
import type { Step } from '../loops/run-loop.ts'

const PAGE = 1_000

export interface OwnLeasesDeps {
  readonly clock: Clock
  readonly config: NodeConfig
  readonly store: Pick<SweepStore, 'ownLeases'>
  readonly membership: Membership
  readonly roster: Roster
  readonly ticker: Ticker
  readonly undelivered: Undelivered
  giveBack(leases: readonly Lease[]): void
  isEnding(lease: Lease): boolean
  readonly end: End
}

/**
 * Compares the leases the store says are this node's with those its sessions hold. A lease the store
 * no longer has belongs to someone else now; its worker learns so at its next heartbeat.
 */
export function checkOwnLeases(deps: OwnLeasesDeps): Step {
  const { clock, membership, roster, ticker } = deps
  let strays = new Map<string, number>()
  return async () => {
    const startedMono = clock.mono()
    const { node } = membership
    // Under load runs come as fast as they can be read: this look goes as far as they were when it began.
    const upTo = membership.mintId()
    const stored = await readOwn(deps.store, node, upTo)
    // Grants of ticks that were under way while we read are not in memory yet.
    await ticker.settled()
    if (membership.node !== node) return { more: false }
    const stray: Lease[] = []
    for (const lease of stored.values()) {
      const held = roster.leaseOf(lease.runId)
      if (held?.fence === lease.fence) held.cancelling ||= lease.cancelling
      else if (!deps.isEnding(lease)) stray.push(lease)
    }
    strays = await judge(stray, strays, deps)
    for (const held of [...roster.allLeases()]) {
      if (held.grantedMono >= startedMono || held.runId > upTo) continue
      if (stored.get(held.runId)?.fence === held.fence) continue
      roster.drop(held.runId, held.fence)
    }
    return { more: false }
  }
}

/**
 * A lease no session holds was either granted by a commit nobody confirmed, and goes back uncounted;
 * or its worker is on its way back to this node, and gets as long as any silent worker before it counts
 * as lost. Returns since when the latter have been waited for.
 */
async function judge(
  stray: readonly Lease[],
  since: ReadonlyMap<string, number>,
  deps: OwnLeasesDeps,
): Promise<Map<string, number>> {
  const { clock, config, undelivered } = deps
  deps.giveBack(stray.filter(undelivered.has))
  const waiting = new Map<string, number>()
  const lost: Lease[] = []
  for (const lease of stray) {
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
