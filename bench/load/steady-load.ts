import { setTimeout as pause } from 'node:timers/promises'
import type { System } from '../systems/system.ts'
import type { ClosedLoop, LoopPlan } from './closed-loop.ts'

/** Keeps a system busy and returns the handled runs per second, one value for each second. */
export async function loadFor(
  seconds: number,
  loop: ClosedLoop,
  system: System,
  plan: Omit<LoopPlan, 'runs'>,
): Promise<number[]> {
  const stop = new AbortController()
  const offered = loop.offer({ ...plan, runs: Infinity }, system.submitMany, stop.signal)
  const rates: number[] = []
  let before = { at: performance.now(), count: loop.count }
  for (let second = 0; second < seconds; second++) {
    // Fails at once when the load fails, instead of sampling a rate of zero to the end.
    await Promise.race([pause(1_000), offered])
    const now = { at: performance.now(), count: loop.count }
    rates.push((now.count - before.count) / ((now.at - before.at) / 1000))
    before = now
  }
  stop.abort()
  await offered
  await system.settled()
  return rates
}

/** The lowest mean over `width` consecutive seconds, so that one slow second of the disk does not count. */
export function lowestMean(rates: readonly number[], width: number): number {
  const means = rates
    .slice(0, Math.max(1, rates.length - width + 1))
    .map((_, index) => mean(rates.slice(index, index + width)))
  return Math.min(...means)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
