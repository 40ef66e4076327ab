import { setTimeout as pause } from 'node:timers/promises'
import { treeCpuMs } from '../harness/process-cpu.ts'
import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant.ts'
import type { Instants, TimedSystem } from '../systems/timed.ts'

export interface FireSettings {
  readonly system: 'punctual' | 'graphile'
  readonly store: string
  readonly postgresPid?: number
  /** Due at each instant. */
  readonly count: number
  readonly everyMs: number
  /** Instants nobody is charged for, and those that count. */
  readonly warmUp: number
  readonly times: number
  /** Schedules that are not due for long, and are not to be noticed. */
  readonly later: number
}

/** Making the schedules, and starting, must be over when the first is due. */
const LEAD_MS = 8_000
const LEAD_PER_ROW_MS = 0.1
const OTHERS_EVERY_MS = 10
const LONGEST_MS = 120_000

/** From the instant at which many are due to the first line of each handler, beside other work. */
measure(async () => {
  const settings = readSettings() as FireSettings
  const { count, everyMs, warmUp, times } = settings
  const rows = count * (settings.system === 'graphile' ? warmUp + times : 1) + settings.later
  const leadMs = LEAD_MS + rows * LEAD_PER_ROW_MS
  const firstAt = Math.ceil((Date.now() + leadMs) / everyMs) * everyMs
  const all = { count, firstAt, everyMs, times: warmUp + times }
  const measured = { count, firstAt: firstAt + warmUp * everyMs, everyMs, times }
  const system = await open(settings)
  await system.plan(all)
  if (Date.now() > firstAt) throw new Error('making the schedules took too long')

  const starts = recordStarts(measured)
  await system.start(starts.handler)
  await pause(Math.max(0, measured.firstAt - everyMs / 2 - Date.now()))
  const cpuBefore = cpuMs(settings)
  const others = submitOthers(system)
  await Promise.race([starts.done, pause(times * everyMs + LONGEST_MS)])
  const waits = await others.stop()
  const cpu = cpuMs(settings) - cpuBefore
  await system.close()

  verify('runs started', count * times, starts.lags.length)
  verify('runs made', count * times, await system.countFired(measured))
  const lastMs = Math.max(...starts.lags)
  return {
    p50: quantile(starts.lags, 0.5),
    p99: quantile(starts.lags, 0.99),
    firesPerSecond: count / (lastMs / 1_000),
    submitP99: quantile(waits, 0.99),
    cpuUs: (cpu * 1_000) / (count * times),
  }
})

async function open({ system, store, later }: FireSettings): Promise<TimedSystem> {
  if (system === 'graphile')
    return (await import('../systems/timed-graphile.ts')).openTimedGraphile(store)
  return (await import('../systems/timed-punctual.ts')).openTimedPunctual(store, later)
}

function recordStarts({ count, firstAt, everyMs, times }: Instants) {
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

/** One run at a time, each waiting for its answer, as somebody would who knows nothing of the herd. */
function submitOthers(system: TimedSystem) {
  const waits: number[] = []
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      const askedAt = performance.now()
      await system.submitOther()
      waits.push(performance.now() - askedAt)
      await pause(OTHERS_EVERY_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await running
      return waits
    },
  }
}

function cpuMs({ postgresPid }: FireSettings): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + (postgresPid === undefined ? 0 : (treeCpuMs(postgresPid) ?? 0))
}
