import { setTimeout as pause } from 'node:timers/promises'
import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface LatencySettings extends SystemSettings {
  readonly samples: number
}

const WARM_UP_SAMPLES = 300
const SPACING_MS = { min: 5, max: 20 }
const SETTLE_MS = 1_000

/** From the call that submits to the first line of the handler, on a system with nothing to do. */
measure(async () => {
  const settings = readSettings() as LatencySettings
  const system = await openSystem(settings)
  let startedAt = 0
  let resolve = () => {}
  await system.work(() => {
    startedAt = performance.now()
    resolve()
  })

  async function sample(): Promise<number> {
    const started = new Promise<void>((done) => {
      resolve = done
    })
    // At random, so that no polling rhythm is met at its best or its worst moment.
    await pause(SPACING_MS.min + Math.random() * (SPACING_MS.max - SPACING_MS.min))
    const submittedAt = performance.now()
    await Promise.all([system.submitOne(), started])
    return startedAt - submittedAt
  }

  for (let i = 0; i < WARM_UP_SAMPLES; i++) await sample()
  const waits: number[] = []
  for (let i = 0; i < settings.samples; i++) waits.push(await sample())

  // The last run may still be on its way to its end.
  await pause(SETTLE_MS)
  await system.close()
  verify('runs ended', WARM_UP_SAMPLES + settings.samples, await system.countEnded())
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: Math.max(...waits) }
})
