import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dueIn, firingAheadContract } from '../contract/firing-ahead.ts'
import { only } from '../contract/fixture.ts'
import type { Store } from '../port.ts'
import { fileDatabase, newSchema } from './postgres.fixture.ts'
import { openPostgresStore } from './store.ts'

const inStore = (use: (store: Store) => Promise<void>) => async () => {
  const store = await openPostgresStore({ url: await fileDatabase(), schema: newSchema() })
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

firingAheadContract(inStore)

test(
  'ahead, nobody meets a run that has not ended: it may end until the time has come',
  inStore(async (store) => {
    const range = { from: 0, until: Number.MAX_SAFE_INTEGER, limit: 9 }
    // On a machine that is too slow to ask ahead, it is asked again.
    for (let tries = 0; ; tries += 1) {
      const { id, dueAt, batchAt } = await dueIn(store, -1_000)
      const soon = Date.now() + 350
      const first = await store.fire(batchAt(dueAt, soon))
      assert.equal(only(first.verdicts).kind, 'done')
      const ahead = await store.fire(batchAt(soon, soon + 60_000))
      if (Date.now() >= soon && tries < 20) continue
      assert.deepEqual(ahead.verdicts, [{ kind: 'early' }])
      assert.equal((await store.occurrences({ scheduleId: id, ...range })).length, 1)
      return
    }
  }),
)
