import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNews, type NewsItem } from './event-buffer.ts'

const told = (name: string) => ({ project: 'p', job: 'j', data: { name } })
const shown = (events: readonly NewsItem[]) =>
  events.map((item) => (item.event === 'reset' ? `reset: ${item.why}` : item.text))

test('what came after a position is given in order, and once', () => {
  const news = createNews('7')
  const start = news.position
  news.add(told('a'))
  const between = news.position
  news.add(told('b'))
  assert.deepEqual(shown(news.after(start).events), ['{"name":"a"}', '{"name":"b"}'])
  const { events, position } = news.after(between)
  assert.deepEqual(shown(events), ['{"name":"b"}'])
  assert.deepEqual(news.after(position).events, [])
})

test('every event carries the position after it', () => {
  const news = createNews('7')
  const { position } = news
  for (const name of ['a', 'b', 'c']) news.add(told(name))
  const { events } = news.after(position)
  for (const [index, item] of events.entries()) {
    assert.deepEqual(news.after(item.position).events, events.slice(index + 1))
  }
})

const LOST = ['reset: what happened since then is not known']

for (const [why, position] of [
  ['of another node or an earlier life', '6.0'],
  ['that was never given', '7.99'],
  ['that is no number', '7.x'],
  ['that is nothing', ''],
] as const) {
  test(`a position ${why} is answered with a reset, and one can go on from there`, () => {
    const news = createNews('7')
    news.add(told('a'))
    const found = news.after(position)
    assert.deepEqual(shown(found.events), LOST)
    news.add(told('b'))
    assert.deepEqual(shown(news.after(found.position).events), ['{"name":"b"}'])
  })
}

test('a position so old that what followed is forgotten is answered with a reset', () => {
  const news = createNews('7')
  const { position } = news
  for (let count = 0; count < 30_000; count += 1) news.add(told('x'))
  assert.deepEqual(shown(news.after(position).events), LOST)
  const recent = news.position
  news.add(told('last'))
  assert.deepEqual(shown(news.after(recent).events), ['{"name":"last"}'])
})

test('after a time nobody listened in, older positions lead nowhere', () => {
  const news = createNews('7')
  const { position } = news
  news.forget()
  assert.deepEqual(shown(news.after(position).events), LOST)
  const now = news.position
  news.add(told('a'))
  assert.deepEqual(shown(news.after(now).events), ['{"name":"a"}'])
})

test('whoever waits is woken by the next event, or when it gives up', async () => {
  const news = createNews('7')
  const gone = new AbortController()
  const woken = [news.next(gone.signal), news.next(gone.signal)]
  news.reset('because')
  await Promise.all(woken)
  const last = news.next(gone.signal)
  gone.abort()
  await last
  await news.next(gone.signal)
})
