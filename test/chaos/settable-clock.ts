import { createInterface } from 'node:readline'
import type { Clock } from '../../src/core/clock.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'

/** A change to the clocks of a process. */
export interface ClockShift {
  /** Shift of the wall clock, in either direction. */
  readonly wallMs: number
  /** Leap of the monotonic clock, forward only: everything may then have expired at once. */
  readonly leapMs: number
}

/** The clocks of a process, controlled through `input`: each line is a further shift. */
export function clockSetBy(input: NodeJS.ReadableStream): Clock {
  let wall = 0
  let leapt = 0
  createInterface({ input }).on('line', (line) => {
    const { wallMs, leapMs } = JSON.parse(line) as ClockShift
    wall += wallMs
    leapt += Math.max(0, leapMs)
  })
  return {
    now: () => systemClock.now() + wall,
    mono: () => systemClock.mono() + leapt,
    sleep: systemClock.sleep,
  }
}
