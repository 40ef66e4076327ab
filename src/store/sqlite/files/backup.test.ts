import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { backUpDatabase } from './backup.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { newRun } from '../contract/rows.ts'
import { EMPTY_BATCH } from '../../contract/fixture.ts'
import { openSqliteStore } from '../store.ts'

test('a backup is a consistent snapshot of a database under continuous writes, and always finishes', async (context) => {
  const directory = temporaryDirectory(context)
  const path = join(directory, 'punctual.db')
  const store = await openSqliteStore({ path, durability: 'normal' })
  context.after(() => store.close())
  let last = 0
  const write = () => {
    const submits = Array.from({ length: 100 }, () =>
      newRun((last += 1), { input: 'x'.repeat(2_000) }),
    )
    return store.tick({ ...EMPTY_BATCH, node: 1, submits })
  }
  for (let i = 0; i < 100; i += 1) await write()
  const acknowledged = last
  const to = join(directory, 'copy.db')
  let isDone = false
  const writing = (async () => {
    while (!isDone) await write()
  })()
  const seen: number[] = []
  const onProgress = ({ pages }: { pages: number }) => void seen.push(pages)
  const copied = await backUpDatabase({ from: path, to, onProgress })
  isDone = true
  await writing
  assert.ok(copied.runs >= acknowledged && copied.runs <= last, `${copied.runs} of ${last}`)
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
    'it never began anew',
  )
  const copy = new Database(to, { readonly: true })
  context.after(() => copy.close())
  const runs = copy.prepare('SELECT max(id), count(*) FROM run').raw().get()
  assert.deepEqual(runs, [copied.runs, copied.runs], 'a prefix, without a gap')
})

test('a server on a backup treats earlier leases as lost at once, and knows no session', async (context) => {
  const directory = temporaryDirectory(context)
  const path = join(directory, 'punctual.db')
  const store = await openSqliteStore({ path, durability: 'normal' })
  const joining = { name: 'n', ttlMs: 30_000, graceMs: 60_000 }
  const { node = 0 } = (await store.join(joining)) ?? {}
  const reservation = { session: 7, fence: 1 }
  await store.tick({ ...EMPTY_BATCH, node, submits: [newRun(1, { reservation })] })
  const to = join(directory, 'copy.db')
  await backUpDatabase({ from: path, to })
  assert.deepEqual(await store.orphans({ after: 0, limit: 10 }), [])
  await store.close()
  const copy = await openSqliteStore({ path: to, durability: 'normal' })
  context.after(() => copy.close())
  await copy.join(joining)
  const orphans = await copy.orphans({ after: 0, limit: 10 })
  assert.deepEqual(
    orphans.map(({ runId }) => runId),
    [1],
  )
  assert.deepEqual(await copy.listSessions(), [])
})
