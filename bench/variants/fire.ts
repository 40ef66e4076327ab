import { setTimeout as pause } from 'node:timers/promises'
import { treeCpuMs } from '../harness/process-cpu.ts'
import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import type { Instants, TimedSystem } from '../systems/timed-system.ts'

export interface FireSettings {
  readonly system: 'punctual' | 'graphile' | 'bullmq delayed' | 'bullmq schedulers'
  readonly store: string
  /** Of the server behind the store, if there is one. */
  readonly serverPid?: number
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
/** Who leaves times out is not waited for as long: they do not come. */
const LONGEST_LEFT_OUT_MS = 10_000

/** From the instant at which many are due to the first line of each handler, beside other work. */
measure(async () => {
  const settings = readSettings() as FireSettings
  const { count, everyMs, warmUp, times } = settings
  const isMadeBefore = settings.system === 'graphile' || settings.system === 'bullmq delayed'
  const rows = count * (isMadeBefore ? warmUp + times : 1) + settings.later
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
  // BullMQ makes the next job of a rule when the one before is taken up, and passes over what is late by then.
  const mayLeaveOut = settings.system === 'bullmq schedulers'
  const patienceMs = mayLeaveOut ? LONGEST_LEFT_OUT_MS : LONGEST_MS
  await Promise.race([starts.done, pause(times * everyMs + patienceMs)])
  const waits = await others.stop()
  const cpu = cpuMs(settings) - cpuBefore
  await system.close()

  const fires = mayLeaveOut ? starts.lags.length : count * times
  verify('runs started', fires, starts.lags.length)
  // Who starts before its instant is wrong, not fast.
  verify('runs started early', 0, starts.lags.filter((lagMs) => lagMs < 0).length)
  verify('runs made', fires, await system.countFired(measured))
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

async function open({ system, store, later }: FireSettings): Promise<TimedSystem> {
  switch (system) {
    case 'graphile':
      return (await import('../systems/timed-graphile.ts')).openTimedGraphile(store)
    case 'bullmq delayed':
      return (await import('../systems/timed-bullmq.ts')).openTimedBullMq(store, 'delayed')
    case 'bullmq schedulers':
      return (await import('../systems/timed-bullmq.ts')).openTimedBullMq(store, 'schedulers')
    case 'punctual':
      return (await import('../systems/timed-punctual.ts')).openTimedPunctual(store, later)
  }
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

function cpuMs({ serverPid }: FireSettings): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + (serverPid === undefined ? 0 : (treeCpuMs(serverPid) ?? 0))
}
