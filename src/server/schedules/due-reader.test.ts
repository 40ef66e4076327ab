import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleRecord } from '../../store/port.ts'
import { createLookAhead } from './due-reader.ts'
import { createWindow } from './due-window.ts'

const HOUR_MS = 3_600_000
const NOW = 1_000 * HOUR_MS

/** A node that is alone, and one schedule as the store has it. */
function openAhead() {
  const window = createWindow()
  let at = NOW
  const row = () => ({ id: 1, next: { nominalAt: at, lookAt: at } }) as ScheduleRecord
  const ahead = createLookAhead({
    store: {
      dueSchedules: async ({ after, until }) =>
        at <= until && at > (after?.lookAt ?? 0) ? [row()] : [],
      liveNodes: async () => [7],
    },
    window,
    node: () => 7,
  })
  return { window, ahead, moveTo: (next: number) => void (at = next) }
}

test('what a node has read of a time that is far off, since the clock was set back, hides nothing', async () => {
  const { window, ahead, moveTo } = openAhead()
  moveTo(NOW + 5_000)
  await ahead.look(NOW)
  // Another node has fired it meanwhile, by the clock as it is now.
  moveTo(NOW - HOUR_MS + 1_000)
  await ahead.look(NOW - HOUR_MS)
  assert.equal(window.take(NOW - HOUR_MS + 1_000, 9).length, 1)
})

test('a clock that is a little behind makes a node forget nothing', async () => {
  const { window, ahead, moveTo } = openAhead()
  moveTo(NOW + 5_000)
  await ahead.look(NOW)
  moveTo(NOW + HOUR_MS)
  await ahead.look(NOW - 5)
  assert.equal(window.size, 1)
})
