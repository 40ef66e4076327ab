import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleRecord } from '../../../store/port.ts'
import { createDueReader } from './due-reader.ts'
import { createDueWindow } from './due-window.ts'

const HOUR_MS = 3_600_000
const NOW = 1_000 * HOUR_MS

/** A single node, and one schedule in the store. */
function openAhead() {
  const window = createDueWindow()
  let at = NOW
  const row = () => ({ id: 1, next: { nominalAt: at, checkAt: at } }) as ScheduleRecord
  const ahead = createDueReader({
    store: {
      dueSchedules: async ({ after, until }) =>
        at <= until && at > (after?.checkAt ?? 0) ? [row()] : [],
      liveNodes: async () => [7],
    },
    window,
    node: () => 7,
  })
  return { window, ahead, moveTo: (next: number) => void (at = next) }
}

test('after the clock was set back, an entry read for a distant time hides nothing', async () => {
  const { window, ahead, moveTo } = openAhead()
  moveTo(NOW + 5_000)
  await ahead.readAhead(NOW)
  // Another node has fired it meanwhile, by the clock as it is now.
  moveTo(NOW - HOUR_MS + 1_000)
  await ahead.readAhead(NOW - HOUR_MS)
  assert.equal(window.take(NOW - HOUR_MS + 1_000, 9).length, 1)
})

test('a clock that is slightly behind does not make a node forget its entries', async () => {
  const { window, ahead, moveTo } = openAhead()
  moveTo(NOW + 5_000)
  await ahead.readAhead(NOW)
  moveTo(NOW + HOUR_MS)
  await ahead.readAhead(NOW - 5)
  assert.equal(window.size, 1)
})
