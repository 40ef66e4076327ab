import { parsePublicId } from '../../../src/core/ids.ts'
import type { FireBatch, FireResult, Store } from '../../../src/store/port.ts'

interface Decided {
  /** Its time by the store's clock, and what that clock was when it was decided. */
  readonly nominalAt: number
  readonly clockAt: number
  /** When that was, by a clock that nobody sets. */
  readonly realMs: number
}

/**
 * No worker starts a run before its time. A store whose clock is set back after it has decided does not
 * make it early: as long as it was to go then, so long it is.
 */
export interface StartLaw {
  /** The same store, whose decisions are written down. */
  watch(store: Store): Store
  started(runId: string): void
}

export function createStartLaw(deps: {
  /** The store's clock, and the one that nobody sets. */
  now(): number
  realMs(): number
  violate(law: string, detail: string): void
}): StartLaw {
  const decided = new Map<number, Decided>()

  const note = ({ commands }: FireBatch, { verdicts }: FireResult) => {
    for (const [index, { settled }] of commands.entries()) {
      if (verdicts[index]?.kind !== 'done') continue
      for (const time of settled) {
        if (time.kind !== 'run') continue
        const { nominalAt } = time
        decided.set(time.run.id, { nominalAt, clockAt: deps.now(), realMs: deps.realMs() })
      }
    }
  }

  return {
    watch: (store) => ({
      ...store,
      async fire(batch) {
        const result = await store.fire(batch)
        note(batch, result)
        return result
      },
    }),
    started(run) {
      const known = decided.get(parsePublicId('run', run) as number)
      if (!known) return
      const { nominalAt, clockAt, realMs } = known
      const earlyMs = nominalAt - clockAt - (deps.realMs() - realMs)
      if (earlyMs > 0) deps.violate('I14 a run starts before its time', `${run}: ${earlyMs} ms`)
    },
  }
}
