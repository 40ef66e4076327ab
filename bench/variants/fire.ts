import { setTimeout as pause } from 'node:timers/promises'
import { treeCpuMs } from '../harness/process-cpu.ts'
import { quantile } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import type { DueTimes, TimedSystem } from '../systems/timed-system.ts'

export interface FireSettings {
  readonly system: 'punctual' | 'graphile' | 'bullmq delayed' | 'bullmq schedulers'
  readonly store: string
  /** Pid of the database or Redis server, if there is one. */
  readonly serverPid?: number
  /** Runs due at each fire time. */
  readonly count: number
  readonly everyMs: number
  /** Fire times before the measured ones. */
  readonly warmUp: number
  /** Measured fire times. */
  readonly times: number
  /** Additional schedules that are due only in the far future. */
  readonly futureSchedules: number
}

/** Time to create the schedules and start the system before the first fire time. */
const LEAD_MS = 8_000
const LEAD_PER_ROW_MS = 0.1
const OTHER_RUN_INTERVAL_MS = 10
const MAX_WAIT_MS = 120_000
/** Shorter for a system that skips fire times, because the skipped runs never start. */
const MAX_WAIT_WITH_SKIPS_MS = 10_000

/** Measures the delay from the fire time of many runs to the first line of each handler, while other runs start. */
measureAndExit(async () => {
  const settings = readVariantSettings() as FireSettings
  const { count, everyMs, warmUp, times } = settings
  const isCreatedBeforehand = settings.system === 'graphile' || settings.system === 'bullmq delayed'
  const rows = count * (isCreatedBeforehand ? warmUp + times : 1) + settings.futureSchedules
  const leadMs = LEAD_MS + rows * LEAD_PER_ROW_MS
  const firstAt = Math.ceil((Date.now() + leadMs) / everyMs) * everyMs
  const all = { count, firstAt, everyMs, times: warmUp + times }
  const measured = { count, firstAt: firstAt + warmUp * everyMs, everyMs, times }
  const system = await openTimedSystem(settings)
  await system.plan(all)
  if (Date.now() > firstAt) throw new Error('creating the schedules took too long')

  const starts = recordStarts(measured)
  await system.start(starts.handler)
  await pause(Math.max(0, measured.firstAt - everyMs / 2 - Date.now()))
  const cpuBefore = cpuMs(settings)
  const otherRuns = submitOtherRuns(system)
  // BullMQ creates a rule's next job when the previous one starts, and skips fire times that have passed by then.
  const skipsFireTimes = settings.system === 'bullmq schedulers'
  const maxWaitMs = skipsFireTimes ? MAX_WAIT_WITH_SKIPS_MS : MAX_WAIT_MS
  await Promise.race([starts.done, pause(times * everyMs + maxWaitMs)])
  const waits = await otherRuns.stop()
  const cpu = cpuMs(settings) - cpuBefore
  await system.close()

  const fires = skipsFireTimes ? starts.lags.length : count * times
  verify('runs started', fires, starts.lags.length)
  // A run that starts before its fire time is an error, not a good figure.
  verify('runs started early', 0, starts.lags.filter((lagMs) => lagMs < 0).length)
  verify('runs created', fires, await system.countFired(measured))
  const lastMs = Math.max(...starts.lags)
  return {
    p50: quantile(starts.lags, 0.5),
    p99: quantile(starts.lags, 0.99),
    firesPerSecond: count / (lastMs / 1_000),
    submitP99: quantile(waits, 0.99),
    cpuUs: (cpu * 1_000) / fires,
    leftOut: 100 - (100 * fires) / (count * times),
  }
})

async function openTimedSystem({
  system,
  store,
  futureSchedules,
}: FireSettings): Promise<TimedSystem> {
  switch (system) {
    case 'graphile':
      return (await import('../systems/timed-graphile.ts')).openTimedGraphile(store)
    case 'bullmq delayed':
      return (await import('../systems/timed-bullmq.ts')).openTimedBullMq(store, 'delayed')
    case 'bullmq schedulers':
      return (await import('../systems/timed-bullmq.ts')).openTimedBullMq(store, 'schedulers')
    case 'punctual':
      return (await import('../systems/timed-punctual.ts')).openTimedPunctual(
        store,
        futureSchedules,
      )
  }
}

function recordStarts({ count, firstAt, everyMs, times }: DueTimes) {
  const lags: number[] = []
  const lastAt = firstAt + (times - 1) * everyMs
  let resolve = () => {}
  const done = new Promise<void>((settle) => {
    resolve = settle
  })
  return {
    lags,
    done,
    handler(dueAt: number) {
      if (dueAt < firstAt || dueAt > lastAt) return
      lags.push(Date.now() - dueAt)
      if (lags.length === count * times) resolve()
    },
  }
}

/** Submits unrelated runs one at a time, waiting for each answer, like a client unaware of the due runs. */
function submitOtherRuns(system: TimedSystem) {
  const waits: number[] = []
  let isStopped = false
  const running = (async () => {
    while (!isStopped) {
      const submittedAt = performance.now()
      await system.submitOther()
      waits.push(performance.now() - submittedAt)
      await pause(OTHER_RUN_INTERVAL_MS)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await running
      return waits
    },
  }
}

function cpuMs({ serverPid }: FireSettings): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + (serverPid === undefined ? 0 : (treeCpuMs(serverPid) ?? 0))
}
