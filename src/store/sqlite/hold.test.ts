import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { firingAheadContract } from '../contract/firing-ahead.ts'
import { timeFor } from './hold.ts'
import { openSqliteStore } from './store.ts'

firingAheadContract((use) => async () => {
  const folder = await mkdtemp(join(tmpdir(), 'punctual-hold-'))
  const store = await openSqliteStore({ path: join(folder, 'a.db'), durability: 'normal' })
  try {
    await use(store)
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
})

test('work ahead of its time counts as of that time, and other work as of now', () => {
  assert.equal(timeFor(1_030, 1_000), 1_030)
  assert.equal(timeFor(990, 1_000), 1_000)
  assert.equal(timeFor(9_000, 1_000), 1_000)
})
