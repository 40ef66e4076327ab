import type { CancelCommand, StepKey } from '../../store/port.ts'
import type { HeldFlow } from './loaded-workflow.ts'
import { REMIND_MS } from './prepare-transition.ts'

/** So many runs are cancelled before anything else has its turn. */
const AT_ONCE = 1_000

export interface Telling {
  cancel(command: CancelCommand): Promise<unknown>
  storeNow(): number
  onError(error: unknown): void
}

/** Flows that are being stopped, and what is under way in them and has to be told so. */
export interface Stopping {
  /** The flow may be one of those. */
  note(flow: HeldFlow): void
  /** Tells some; those that do not hear are told again after a while. */
  tellSome(): Promise<void>
  readonly isEmpty: boolean
}

export function createStopping({ cancel, storeNow, onError }: Telling): Stopping {
  const toTell = new Map<HeldFlow, Iterator<StepKey>>()
  return {
    note(flow) {
      if (!flow.stop || toTell.has(flow)) return
      if (flow.toldToStopAt !== null && storeNow() - flow.toldToStopAt < REMIND_MS) return
      flow.toldToStopAt = storeNow()
      toTell.set(flow, flow.progress.unwanted()[Symbol.iterator]())
    },
    async tellSome() {
      const told: Promise<unknown>[] = []
      for (const [flow, keys] of toTell) {
        const { projectId } = flow.record
        for (;;) {
          if (told.length === AT_ONCE) return void (await Promise.all(told).catch(onError))
          const { done, value } = keys.next()
          if (done) break
          const runId = flow.runs.runOf(value)
          if (runId !== null) told.push(cancel({ runId, projectId }))
        }
        toTell.delete(flow)
      }
      await Promise.all(told).catch(onError)
    },
    get isEmpty() {
      return toTell.size === 0
    },
  }
}
