import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onFreshStores, onSharedStore, type OpenStore } from '../world.ts'

export function blobRowsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a blob of any bytes is stored under its key, and another put of the key replaces it',
    inWorld(async ({ store }) => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      await store.putBlob({ key: 'a/1', bytes: Buffer.from('before') })
      await store.putBlob({ key: 'a/1', bytes })
      const read = async (from: number, length: number) =>
        [...((await store.getBlob({ key: 'a/1', from, length })) ?? [-1])] as number[]
      assert.deepEqual(await read(0, 1_000), [...bytes])
      assert.deepEqual(await read(254, 10), [254, 255])
      assert.deepEqual(await read(300, 10), [])
      await store.deleteBlobs(['a/1', 'a/2'])
      assert.equal(await store.getBlob({ key: 'a/1', from: 0, length: 1 }), null)
    }),
  )

  test(
    'keys are listed in order, with their age by the clock of the store',
    inWorld(async ({ store, clock }) => {
      const bytes = new Uint8Array([1])
      for (const key of ['b/2', 'b/1', 'ba/1', 'a/9', 'b/3']) {
        await store.putBlob({ key, bytes })
        clock.advance(1_000)
      }
      const list = async (after: string, limit = 100) =>
        (await store.listBlobs({ prefix: 'b/', after, limit })).map(({ key }) => key)
      assert.deepEqual(await list(''), ['b/1', 'b/2', 'b/3'])
      assert.deepEqual(await list('b/1', 1), ['b/2'])
      assert.deepEqual(await list('b/3'), [])
      const [first] = await store.listBlobs({ prefix: 'b/', after: '', limit: 1 })
      assert.deepEqual(first, { key: 'b/1', ageMs: 4_000 })
    }),
  )

  const onFresh = onFreshStores(open)
  const names = new Set<string>()
  for (const which of ['a', 'another']) {
    test(
      `${which} database has a unique name, and keeps it`,
      onFresh(async ({ store, reopen }) => {
        const name = await store.identity()
        assert.match(name, /^[0-9a-f]{32}$/)
        assert.ok(!names.has(name))
        names.add(name)
        const again = reopen ? await reopen() : store
        assert.equal(await again.identity(), name)
      }),
    )
  }
}
