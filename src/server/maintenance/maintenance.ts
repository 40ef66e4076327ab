import { idAtMs } from '../../core/ids.ts'
import type { ScheduleStore, TokenStore, MaintenanceStore } from '../../store/port.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Vault } from '../secrets/vault.ts'

const BATCH = 1_000

/** Retention: deletes runs that ended longer ago than they are kept, one batch at a time. */
export function pruneRuns(deps: {
  store: Pick<MaintenanceStore, 'prune'>
  storeNow: () => number
  keepMs: number
}): LoopStep {
  return () => deps.store.prune({ endedBefore: deps.storeNow() - deps.keepMs, limit: BATCH })
}

/** Occurrences are kept as long as runs are. */
export function forgetOccurrences(deps: {
  store: Pick<ScheduleStore, 'pruneOccurrences'>
  storeNow: () => number
  keepMs: number
}): LoopStep {
  return () =>
    deps.store.pruneOccurrences({ before: idAtMs(deps.storeNow() - deps.keepMs), limit: BATCH })
}

/** Marks expired tokens, also unused ones: a clock that is set back later must not revive them. */
export function createExpireTokensStep(deps: {
  store: Pick<TokenStore, 'expireTokens'>
}): LoopStep {
  return async () => {
    await deps.store.expireTokens()
    return { more: false }
  }
}

export function runMaintenance(deps: {
  store: Pick<MaintenanceStore, 'maintain'>
  mayDelete(): boolean
  isClockOff(): boolean
}): LoopStep {
  return async () => {
    const { store, mayDelete, isClockOff } = deps
    await store.maintain({ mayDelete: mayDelete(), isClockOff: isClockOff() })
    return { more: false }
  }
}

/**
 * Keys are added to a file while nodes run: each node finds them by itself and announces them to
 * the others.
 */
export function createAnnounceKeysStep(deps: {
  vault: Vault
  membership: Pick<Membership, 'node'>
}): LoopStep {
  return async () => {
    await deps.vault.announce(deps.membership.node)
    return { more: false }
  }
}
