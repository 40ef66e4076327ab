import { parsePublicId } from '../../../src/core/ids.ts'
import type { FireBatch, FireResult, Store } from '../../../src/store/port.ts'

interface Decided {
  /** The due time, and the time on the store's clock when it decided. */
  readonly nominalAt: number
  readonly clockAt: number
  /** The same moment on a clock that is never set. */
  readonly realMs: number
}

/**
 * No worker starts a run before its due time. Setting the store's clock back after the decision does not make a
 * start early: the remaining wait at the decision counts.
 */
export interface StartInvariant {
  /** The same store; its decisions are recorded. */
  watch(store: Store): Store
  started(runId: string): void
}

export function createStartInvariant(deps: {
  /** A clock that is never set. */
  realMs(): number
  violate(invariant: string, detail: string): void
}): StartInvariant {
  const decided = new Map<number, Decided>()

  const record = ({ commands }: FireBatch, { verdicts, now, aheadMs }: FireResult) => {
    for (const [index, { settled }] of commands.entries()) {
      if (verdicts[index]?.kind !== 'done') continue
      for (const time of settled) {
        if (time.kind !== 'run') continue
        const { nominalAt } = time
        decided.set(time.run.id, { nominalAt, clockAt: now - aheadMs, realMs: deps.realMs() })
      }
    }
  }

  return {
    watch: (store) => ({
      ...store,
      async fire(batch) {
        const result = await store.fire(batch)
        record(batch, result)
        return result
      },
    }),
    started(run) {
      const decision = decided.get(parsePublicId('run', run) as number)
      if (!decision) return
      const { nominalAt, clockAt, realMs } = decision
      const earlyMs = nominalAt - clockAt - (deps.realMs() - realMs)
      if (earlyMs > 0) deps.violate('I14 a run starts before its time', `${run}: ${earlyMs} ms`)
    },
  }
}
