import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { createFeed } from './feed.ts'

function setUp({ nodes = 1, readFails = false } = {}) {
  const clock = createVirtualClock()
  const reads: (readonly number[])[] = []
  const errors: unknown[] = []
  const feed = createFeed({
    clock,
    epoch: '1',
    async read(runIds) {
      reads.push(runIds)
      if (readFails) throw new Error('no')
      return runIds.map((id) => ({ project: 'p', job: 'j', data: { id } }))
    },
    countNodes: async () => nodes,
    onError: (error) => errors.push(error),
  })
  const reader = new AbortController()
  let start = ''
  const watch = () => {
    feed.watch(reader.signal)
    start = feed.buffer.position
  }
  const seen = () =>
    feed.buffer.after(start).events.map((item) => (item.event === 'reset' ? item.why : item.text))
  return { clock, feed, reads, errors, reader, watch, seen }
}

test('without readers nothing is read from the store', async () => {
  const { clock, feed, reads } = setUp()
  feed.touched([1, 2])
  await clock.advance(10_000)
  assert.deepEqual(reads, [])
})

test('a run that changes several times in a moment is published once', async () => {
  const { clock, feed, reads, reader, watch, seen } = setUp()
  watch()
  feed.touched([1, 2])
  feed.touched([2])
  await clock.advance(100)
  assert.deepEqual(reads, [[1, 2]])
  assert.deepEqual(seen(), ['{"id":1}', '{"id":2}'])
  feed.touched([1])
  await clock.advance(100)
  assert.equal(seen().at(-1), '{"id":1}')
  reader.abort()
})

test('too many changes give a reset, and so does a failed read', async () => {
  const many = setUp()
  many.watch()
  many.feed.touched(Array.from({ length: 501 }, (_, index) => index))
  await many.clock.advance(100)
  assert.deepEqual([many.reads, many.seen()], [[], ['much has changed at once']])

  const failing = setUp({ readFails: true })
  failing.watch()
  failing.feed.touched([1])
  await failing.clock.advance(100)
  assert.deepEqual(failing.seen(), ['changes could not be read'])
  assert.equal(failing.errors.length, 1)
})

test('a reader that returns within a minute continues where it was; later it gets a reset', async () => {
  const { clock, feed, reader, watch, seen } = setUp()
  watch()
  reader.abort()
  await clock.advance(50_000)
  feed.touched([1])
  await clock.advance(100)
  const again = new AbortController()
  feed.watch(again.signal)
  assert.deepEqual(seen(), ['{"id":1}'])
  again.abort()
  await clock.advance(61_000)
  feed.touched([2])
  await flushTasks()
  feed.watch(new AbortController().signal)
  assert.deepEqual(seen(), ['what happened since then is not known'])
})

test('with several nodes, readers poll every two seconds', async () => {
  const { clock, reader, watch, seen } = setUp({ nodes: 2 })
  watch()
  await clock.advance(5_000)
  reader.abort()
  await clock.advance(5_000)
  assert.deepEqual(seen(), Array(3).fill('other nodes may have changed something'))
})
