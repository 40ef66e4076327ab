import { verify } from '../harness/variant-process.ts'
import type { System, SystemSettings } from '../systems/system.ts'
import type { PortionedLoad } from './portioned-load.ts'

export interface CallerSettings extends SystemSettings {
  readonly seconds: number
  readonly callers: number
  /** Also start a worker; the measurement then ends when the last run has durably ended. */
  readonly withWorker: boolean
}

/** The JIT compiler needs some ten thousand requests to optimise the request path. */
const WARM_UP_SECONDS = 6

/** Starts callers that each submit one run, wait until it is durable, and submit the next. */
export async function startCallers(
  system: System,
  settings: CallerSettings,
): Promise<PortionedLoad> {
  let submitted = 0
  let handled = 0
  let onAllHandled = () => {}
  if (settings.withWorker) {
    await system.work(() => {
      handled += 1
      if (handled === submitted) onAllHandled()
    })
  }

  const callFor = async (seconds: number) => {
    const startedAt = performance.now()
    const before = submitted
    const call = async () => {
      while (performance.now() < startedAt + seconds * 1000) {
        submitted += 1
        await system.submitOne()
      }
    }
    await Promise.all(Array.from({ length: settings.callers }, call))
    if (settings.withWorker) await everythingEnded()
    return { runs: submitted - before, seconds: (performance.now() - startedAt) / 1000 }
  }

  const everythingEnded = async () => {
    const everythingHandled = new Promise<void>((resolve) => {
      onAllHandled = resolve
    })
    if (handled < submitted) await everythingHandled
    await system.settled()
  }

  return {
    async warmUp() {
      await callFor(WARM_UP_SECONDS)
    },
    offer: (share) => callFor(settings.seconds * share),
    async close() {
      await system.close()
      verify('runs submitted', submitted, await system.countSubmitted())
      if (settings.withWorker) verify('runs ended', submitted, await system.countEnded())
    },
  }
}
