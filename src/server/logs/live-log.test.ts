import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import type { RunRecord } from '../../store/port.ts'
import { createWatch } from '../runs/watch.ts'
import { createLiveLogs, type FollowedOutput } from './live-log.ts'
import { createLogReader } from './log-reader.ts'

/** A run with scripted output, and a count of what is read from it. */
function setUp() {
  const clock = createVirtualClock()
  const watch = createWatch(clock)
  const chunks: string[] = []
  const reads = { runs: 0, chunks: 0, ends: 0 }
  let end: ProcessEnd | null = null
  let state: RunRecord['state'] = 'running'
  const store = {
    async logChunks({ from, limit }: { from: number; limit: number }) {
      reads.chunks += 1
      return chunks.slice(from, from + limit).map((text, index) => ({
        chunk: from + index,
        firstLine: from + index,
        lines: 1,
        packed: Buffer.from(JSON.stringify([[0, 1, text]])),
      }))
    },
    async logEnd() {
      reads.ends += 1
      return { chunks: chunks.length, lines: chunks.length }
    },
  }
  const live = createLiveLogs({
    watch,
    reader: createLogReader(store as never, createVirtualClock(0)),
    store,
    async findRun(runId) {
      reads.runs += 1
      const times = { startedAt: 0, finishedAt: state === 'running' ? null : 1 }
      const process = end && JSON.stringify(end)
      return { id: runId, attempt: 1, fence: 7, state, process, ...times } as RunRecord
    },
  })
  const print = (...texts: string[]) => {
    chunks.push(...texts)
    watch.touched(1)
  }
  const finish = () => {
    state = 'succeeded'
    end = { output: { chunks: chunks.length, bytes: 0 } }
    watch.touched(1)
  }
  const printElsewhere = (text: string) => void chunks.push(text)
  return { clock, live, reads, print, printElsewhere, finish }
}

/** Reads the output whenever it is allowed to. */
function viewer(
  followed: AsyncGenerator<FollowedOutput>,
  may: () => Promise<void> = async () => {},
) {
  const seen: string[] = []
  const over = (async () => {
    for await (const piece of followed) {
      seen.push(
        piece.kind === 'skipped' ? `skipped ${piece.chunks}` : (piece.entries[0]?.[2] ?? ''),
      )
      await may()
    }
  })()
  return { seen, over }
}

test('hundreds follow one run, and everything is read once', async () => {
  const { live, reads, print, finish } = setUp()
  const { signal } = new AbortController()
  print('a')
  const viewers = Array.from({ length: 300 }, () => viewer(live.follow(1, {}, signal)))
  await flushTasks()
  print('b', 'c')
  await flushTasks()
  finish()
  await Promise.all(viewers.map(({ over }) => over))
  for (const { seen } of viewers) assert.deepEqual(seen, ['a', 'b', 'c'])
  assert.equal(reads.chunks, 3)
  assert.ok(reads.runs <= 4, `${reads.runs} looks at the run`)
})

test('a slow viewer delays no other viewer, and gets everything', async () => {
  const { live, print, finish } = setUp()
  const { signal } = new AbortController()
  const gate = Promise.withResolvers<void>()
  const slow = viewer(live.follow(1, {}, signal), () => gate.promise)
  const quick = viewer(live.follow(1, {}, signal))
  const texts = Array.from({ length: 30 }, (_, index) => String(index))
  for (const text of texts) {
    print(text)
    await flushTasks()
  }
  finish()
  await quick.over
  assert.deepEqual([quick.seen, slow.seen], [texts, ['0']])
  gate.resolve()
  await slow.over
  assert.deepEqual(slow.seen, texts)
})

test('a viewer that may skip continues at the end, and learns what it missed', async () => {
  const { live, print, finish } = setUp()
  const { signal } = new AbortController()
  const gate = Promise.withResolvers<void>()
  const slow = viewer(live.follow(1, { maySkip: true }, signal), () => gate.promise)
  for (let index = 0; index < 30; index += 1) {
    print(String(index))
    await flushTasks()
  }
  finish()
  gate.resolve()
  await slow.over
  assert.deepEqual(slow.seen, ['0', 'skipped 28', '29'])
})

test('a viewer that leaves is not waited for, and the last one ends the reading', async () => {
  const { clock, live, reads, print } = setUp()
  const gone = new AbortController()
  const left = viewer(live.follow(1, {}, gone.signal))
  print('a')
  await flushTasks()
  gone.abort()
  await left.over
  const before = reads.runs
  print('b')
  await clock.advance(10_000)
  assert.equal(reads.runs, before)
  assert.deepEqual(left.seen, ['a'])
})

test('output written through other nodes is seen within a moment', async () => {
  const { clock, live, printElsewhere, finish } = setUp()
  const { signal } = new AbortController()
  const one = viewer(live.follow(1, { chunk: 1 }, signal))
  await flushTasks()
  printElsewhere('a')
  printElsewhere('b')
  await clock.advance(1_000)
  assert.deepEqual(one.seen, ['b'])
  finish()
  await one.over
})
