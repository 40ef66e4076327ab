import { measure, readSettings, verify } from '../harness/variant.ts'
import { meterCpu } from '../load/cpu-meter.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface SingleSettings extends SystemSettings {
  readonly seconds: number
  readonly callers: number
  /** With a worker, the clock stops when the last run has durably ended. */
  readonly withWorker: boolean
}

/** A request passes through much code; compilers take some ten thousand of them to finish with it. */
const WARM_UP_SECONDS = 6

/** Callers that each submit one run, wait for its durable answer, and submit the next. */
measure(async () => {
  const settings = readSettings() as SingleSettings
  const system = await openSystem(settings)
  let submitted = 0
  let handled = 0
  let caughtUp = () => {}
  if (settings.withWorker) {
    await system.work(() => {
      handled += 1
      if (handled === submitted) caughtUp()
    })
  }

  async function callFor(seconds: number): Promise<void> {
    const until = performance.now() + seconds * 1000
    const call = async () => {
      while (performance.now() < until) {
        submitted += 1
        await system.submitOne()
      }
    }
    await Promise.all(Array.from({ length: settings.callers }, call))
    if (!settings.withWorker) return
    const everythingHandled = new Promise<void>((resolve) => {
      caughtUp = resolve
    })
    if (handled < submitted) await everythingHandled
    await system.settled()
  }

  await callFor(WARM_UP_SECONDS)
  const warmUp = submitted
  const cpu = await meterCpu(system, settings.postgresPid)
  const startedAt = performance.now()
  await callFor(settings.seconds)
  const seconds = (performance.now() - startedAt) / 1000
  const cpuPerRun = await cpu.perRun(submitted - warmUp)

  await system.close()
  verify('runs submitted', submitted, await system.countSubmitted())
  if (settings.withWorker) verify('runs ended', submitted, await system.countEnded())
  return { runsPerSecond: (submitted - warmUp) / seconds, seconds, ...cpuPerRun }
})
