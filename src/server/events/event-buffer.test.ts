import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEventBuffer, type StreamedRunEvent } from './event-buffer.ts'

const change = (name: string) => ({ project: 'p', job: 'j', data: { name } })
const shown = (events: readonly StreamedRunEvent[]) =>
  events.map((item) => (item.event === 'reset' ? `reset: ${item.why}` : item.text))

test('events after a position come in order, and once', () => {
  const buffer = createEventBuffer('7')
  const start = buffer.position
  buffer.add(change('a'))
  const between = buffer.position
  buffer.add(change('b'))
  assert.deepEqual(shown(buffer.after(start).events), ['{"name":"a"}', '{"name":"b"}'])
  const { events, position } = buffer.after(between)
  assert.deepEqual(shown(events), ['{"name":"b"}'])
  assert.deepEqual(buffer.after(position).events, [])
})

test('every event carries the position after it', () => {
  const buffer = createEventBuffer('7')
  const { position } = buffer
  for (const name of ['a', 'b', 'c']) buffer.add(change(name))
  const { events } = buffer.after(position)
  for (const [index, item] of events.entries()) {
    assert.deepEqual(buffer.after(item.position).events, events.slice(index + 1))
  }
})

const LOST = ['reset: what happened since then is not known']

for (const [why, position] of [
  ['of another node or an earlier life', '6.0'],
  ['that was never given', '7.99'],
  ['that is no number', '7.x'],
  ['that is nothing', ''],
] as const) {
  test(`a position ${why} is answered with a reset, from which a reader can continue`, () => {
    const buffer = createEventBuffer('7')
    buffer.add(change('a'))
    const found = buffer.after(position)
    assert.deepEqual(shown(found.events), LOST)
    buffer.add(change('b'))
    assert.deepEqual(shown(buffer.after(found.position).events), ['{"name":"b"}'])
  })
}

test('a position whose following events were dropped is answered with a reset', () => {
  const buffer = createEventBuffer('7')
  const { position } = buffer
  for (let count = 0; count < 30_000; count += 1) buffer.add(change('x'))
  assert.deepEqual(shown(buffer.after(position).events), LOST)
  const recent = buffer.position
  buffer.add(change('last'))
  assert.deepEqual(shown(buffer.after(recent).events), ['{"name":"last"}'])
})

test('after a time without readers, older positions are invalid', () => {
  const buffer = createEventBuffer('7')
  const { position } = buffer
  buffer.forget()
  assert.deepEqual(shown(buffer.after(position).events), LOST)
  const now = buffer.position
  buffer.add(change('a'))
  assert.deepEqual(shown(buffer.after(now).events), ['{"name":"a"}'])
})

test('a waiting reader is woken by the next event, or when it gives up', async () => {
  const buffer = createEventBuffer('7')
  const gone = new AbortController()
  const woken = [buffer.next(gone.signal), buffer.next(gone.signal)]
  buffer.reset('because')
  await Promise.all(woken)
  const last = buffer.next(gone.signal)
  gone.abort()
  await last
  await buffer.next(gone.signal)
})
