import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import { waitFor } from '../support/wait-for.ts'
import { clockSetBy, type ClockShift } from './settable-clock.ts'

const HOUR_MS = 3_600_000

test('the wall clock moves both ways and the monotonic clock only forward', async () => {
  const input = new PassThrough()
  const clock = clockSetBy(input)
  const isNear = (ms: number, aim: number) => Math.abs(ms - aim) < HOUR_MS / 2
  const shown = () => [clock.now() - systemClock.now(), clock.mono() - systemClock.mono()] as const
  const writeLine = (shift: ClockShift) => input.write(`${JSON.stringify(shift)}\n`)
  assert.ok(shown().every((ms) => isNear(ms, 0)))

  writeLine({ wallMs: -5 * HOUR_MS, leapMs: 2 * HOUR_MS })
  await waitFor(() => isNear(shown()[0], -5 * HOUR_MS), { what: 'the first shift' })
  assert.ok(isNear(shown()[1], 2 * HOUR_MS))

  writeLine({ wallMs: 6 * HOUR_MS, leapMs: -HOUR_MS })
  await waitFor(() => isNear(shown()[0], HOUR_MS), { what: 'the second, on top of it' })
  assert.ok(isNear(shown()[1], 2 * HOUR_MS))
})
