import pg from 'pg'
import { postgresUrl } from '../../../test/support/servers.ts'
import { openPostgresStore } from '../../store/postgres/store.ts'
import { openEngine, createStoreOnEngine } from '../../store/sqlite/store.ts'
import { blobsContract } from '../contract.ts'
import { createRowBlobs } from './blobs.ts'

const START_MS = Date.UTC(2026, 2, 4, 12)

blobsContract('rows of SQLite', async () => {
  let nowMs = START_MS
  const engine = openEngine({ path: ':memory:', now: () => nowMs })
  const blobs = createRowBlobs(createStoreOnEngine(engine))
  return {
    blobs,
    advance: (ms) => void (nowMs += ms),
    async corrupt(key, change) {
      const bytes = change(await blobs.get(key))
      engine.raw.prepare('UPDATE blob SET bytes = ? WHERE key = ?').run(bytes, key)
    },
    close: async () => engine.close(),
  }
})

blobsContract('rows of PostgreSQL', async () => {
  let nowMs = START_MS
  const url = await postgresUrl()
  const store = await openPostgresStore({ url, now: () => nowMs })
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  const blobs = createRowBlobs(store)
  return {
    blobs,
    advance: (ms) => void (nowMs += ms),
    async corrupt(key, change) {
      const bytes = Buffer.from(change(await blobs.get(key)))
      await admin.query('UPDATE punctual.blob SET bytes = $1 WHERE key = $2', [bytes, key])
    },
    async close() {
      await admin.end()
      await store.close()
    },
  }
})
