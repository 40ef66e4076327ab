import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogChunk } from '../../port.ts'
import { DAY_MS, type AttemptRef } from '../fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

function chunkOf(
  { runId, fence }: AttemptRef,
  chunk: number,
  lines = 1,
  text = `line\n`,
): LogChunk {
  const packed = Buffer.from(text.repeat(lines))
  return { runId, fence, chunk, lines, trigrams: null, packed }
}

async function append(world: StoreWorld, ...chunks: LogChunk[]) {
  return world.store.appendLog(chunks)
}

async function read(world: StoreWorld, { runId, fence }: AttemptRef, from = 0, limit = 100) {
  return world.store.logChunks({ runId, fence, from, limit })
}

export function logsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'chunks of an attempt under way are stored in order, and read from any number on',
    inWorld(async (world) => {
      const lease = await world.start()
      const chunks = [chunkOf(lease, 0, 2), chunkOf(lease, 1, 0), chunkOf(lease, 2, 3)]
      for (const [index, chunk] of chunks.entries()) {
        assert.deepEqual(await append(world, chunk), [{ stored: index + 1 }])
      }
      const stored = chunks.map(({ chunk, lines, packed }, index) => ({
        chunk,
        lines,
        packed,
        firstLine: [0, 2, 2][index],
      }))
      assert.deepEqual(await read(world, lease), stored)
      assert.deepEqual(await read(world, lease, 1, 1), stored.slice(1, 2))
      assert.deepEqual(await read(world, lease, 3), [])
      const { runId, fence } = lease
      assert.deepEqual(await world.store.logEnd({ runId, fence }), { chunks: 3, lines: 5 })
      assert.deepEqual(await world.store.logEnd({ runId, fence: 1 }), { chunks: 0, lines: 0 })
    }),
  )

  test(
    'a chunk sent twice is stored once; one ahead of its turn is not stored at all',
    inWorld(async (world) => {
      const lease = await world.start()
      assert.deepEqual(await append(world, chunkOf(lease, 1)), [{ stored: 0 }])
      assert.deepEqual(await append(world, chunkOf(lease, 0)), [{ stored: 1 }])
      assert.deepEqual(await append(world, chunkOf(lease, 0, 7)), [{ stored: 1 }])
      assert.deepEqual(await append(world, chunkOf(lease, 2)), [{ stored: 1 }])
      assert.deepEqual(
        (await read(world, lease)).map(({ chunk, lines }) => [chunk, lines]),
        [[0, 1]],
      )
    }),
  )

  test(
    'several chunks of an attempt are stored at once, repeats included',
    inWorld(async (world) => {
      const lease = await world.start()
      const other = await world.start()
      const some = [0, 1, 2, 3, 4].map((chunk) => chunkOf(lease, chunk, chunk + 1))
      const stored = async (...chunks: LogChunk[]) =>
        (await append(world, ...chunks)).map((one) => (one === 'stale' ? one : one.stored))
      assert.deepEqual(await stored(some[0]!, chunkOf(other, 0), some[1]!), [1, 1, 2])
      assert.deepEqual(await stored(some[1]!, some[2]!, some[3]!), [2, 3, 4])
      assert.deepEqual(await stored(chunkOf(lease, 5), chunkOf(lease, 6)), [4, 4])
      assert.deepEqual(await stored(some[4]!), [5])
      assert.deepEqual(
        (await read(world, lease)).map(({ chunk, firstLine, lines }) => [chunk, firstLine, lines]),
        [
          [0, 0, 1],
          [1, 1, 2],
          [2, 3, 3],
          [3, 6, 4],
          [4, 10, 5],
        ],
      )
    }),
  )

  test(
    'chunks of an attempt that ended, or never existed, are stale and change nothing',
    inWorld(async (world) => {
      const lease = await world.start()
      const wrong = { runId: lease.runId, fence: lease.fence + 1 }
      const missing = { runId: world.mint(), fence: lease.fence }
      assert.deepEqual(await append(world, chunkOf(wrong, 0), chunkOf(missing, 0)), [
        'stale',
        'stale',
      ])
      await append(world, chunkOf(lease, 0))
      await world.end(lease)
      assert.deepEqual(await append(world, chunkOf(lease, 1)), ['stale'])
      assert.equal((await read(world, lease)).length, 1)
      assert.deepEqual(await read(world, wrong), [])
    }),
  )

  test(
    'many attempts write at once, each its own log',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(5))
      const leases = await world.claim(5)
      const mixed = leases.toReversed()
      const first = mixed.map((lease) => chunkOf(lease, 0, 1, `${lease.runId}\n`))
      assert.deepEqual(
        await append(world, ...first),
        mixed.map(() => ({ stored: 1 })),
      )
      for (const lease of leases) {
        const [chunk] = await read(world, lease)
        assert.ok(chunk?.packed.includes(String(lease.runId)))
      }
    }),
  )

  test(
    'the next attempt of a run starts its own log, and the old one stays',
    inWorld(async (world) => {
      const lease = await world.start()
      await append(world, chunkOf(lease, 0))
      await world.end(lease, { to: 'retry', cause: 'exit', process: '{"exit_code":7}' })
      const [again] = await world.claim(1)
      assert.ok(again)
      assert.deepEqual(await append(world, chunkOf(again, 0)), [{ stored: 1 }])
      assert.equal((await read(world, lease)).length, 1)
      assert.deepEqual(await world.store.attemptsOf({ runId: lease.runId }), [
        {
          attempt: 1,
          fence: lease.fence,
          cause: 'exit',
          message: null,
          worker: null,
          process: '{"exit_code":7}',
          startedAt: lease.startedAt,
          finishedAt: world.clock.now(),
        },
      ])
      assert.deepEqual(await world.store.attemptsOf({ runId: world.mint() }), [])
    }),
  )

  test(
    'a line is found in the chunk that holds it',
    inWorld(async (world) => {
      const lease = await world.start()
      for (const [index, lines] of [3, 0, 2].entries()) {
        await append(world, chunkOf(lease, index, lines))
      }
      const { runId, fence } = lease
      const found = []
      for (let line = 0; line < 6; line += 1) {
        found.push(await world.store.findLine({ runId, fence, line }))
      }
      assert.deepEqual(found, [0, 0, 0, 2, 2, null])
    }),
  )

  test(
    'a line is found among any number of chunks',
    inWorld(async (world) => {
      const lease = await world.start()
      const { runId, fence } = lease
      const firsts: number[] = []
      let next = 0
      for (let chunk = 0; chunk < 50; chunk += 1) {
        const lines = (chunk * 7) % 4
        firsts.push(next)
        await append(world, chunkOf(lease, chunk, lines))
        next += lines
      }
      for (let line = 0; line <= next; line += 1) {
        const expected = firsts.findLastIndex((first) => first <= line)
        const found = await world.store.findLine({ runId, fence, line })
        assert.equal(found, line < next ? expected : null, `line ${line}`)
      }
      assert.equal(await world.store.findLine({ runId, fence: 1, line: 0 }), null)
    }),
  )

  test(
    'chunks are left out by the bits their filters lack; those without a filter never',
    inWorld(async (world) => {
      const lease = await world.start()
      const filters = [[0b101, 0x80], [0b111, 0], null, [0, 0x80]]
      for (const [chunk, filter] of filters.entries()) {
        const trigrams = filter && Uint8Array.from(filter)
        await append(world, { ...chunkOf(lease, chunk), trigrams })
      }
      const { runId, fence } = lease
      const like = (bits: number[], from = 0, to = 9) =>
        world.store.chunksLike({ runId, fence, from, to, bits })
      assert.deepEqual(await like([0, 2]), [0, 1, 2])
      assert.deepEqual(await like([2, 15]), [0, 2])
      assert.deepEqual(await like([1]), [1, 2])
      assert.deepEqual(await like([15], 1, 3), [2])
      assert.deepEqual(await like([]), [0, 1, 2, 3])
    }),
  )

  test(
    'every byte is kept as it is',
    inWorld(async (world) => {
      const lease = await world.start()
      const packed = Buffer.from(Array.from({ length: 512 }, (_, byte) => byte % 256))
      await append(world, { ...chunkOf(lease, 0), packed })
      assert.deepEqual((await read(world, lease))[0]?.packed, packed)
    }),
  )

  const onFresh = onFreshStores(open)
  test(
    'a log is deleted with its run',
    onFresh(async (world) => {
      const lease = await world.start()
      await append(world, chunkOf(lease, 0))
      await world.end(lease)
      world.clock.advance(30 * DAY_MS)
      while ((await world.store.prune({ endedBefore: world.clock.now(), limit: 100 })).more);
      assert.deepEqual(await read(world, lease), [])
    }),
  )
}
