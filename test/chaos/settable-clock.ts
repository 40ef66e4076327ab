import { createInterface } from 'node:readline'
import type { Clock } from '../../src/core/clock.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'

/** What somebody does to the clocks of a machine. */
export interface ClockShift {
  /** To the wall clock, either way. */
  readonly wallMs: number
  /** To the one that never runs backwards: it may still leap, and then everything has expired at once. */
  readonly leapMs: number
}

/** The clocks of a process, as whoever writes to it sets them: a shift a line, on top of those before. */
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
