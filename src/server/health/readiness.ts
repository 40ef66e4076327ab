import type { Store } from '../../store/port.ts'

export interface Readiness {
  readonly ok: boolean
  readonly reason?: string
}

/** Whether the store answers and this node may promise work. */
export function createReady(deps: {
  readonly store: Pick<Store, 'ping'>
  mayPromise(): boolean
  /** Why it stays away from the others, if it does so by itself. */
  whyAway(): string | undefined
}): () => Promise<Readiness> {
  return async () => {
    if (!deps.mayPromise()) {
      return { ok: false, reason: deps.whyAway() ?? 'the node row could not be renewed' }
    }
    try {
      await deps.store.ping()
      return { ok: true }
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : 'the store failed' }
    }
  }
}
