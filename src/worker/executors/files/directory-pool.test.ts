import assert from 'node:assert/strict'
import { chmodSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createDirectoryPool } from './directory-pool.ts'

function open(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'punctual-pool-'))
  t.after(() => rmSync(root, { recursive: true }))
  const removed: string[] = []
  let mono = 0
  const pool = createDirectoryPool(root, 'tmp', {
    clock: { mono: () => mono },
    owner: undefined,
    remove: (path) => removed.push(path),
  })
  return { pool, removed, wait: (ms: number) => void (mono += ms) }
}

test('directories are not shared, and other users cannot read them', (t) => {
  const { pool } = open(t)
  const [a, b] = [pool.take(), pool.take()]
  assert.notEqual(a, b)
  assert.equal(lstatSync(a).mode & 0o777, 0o700)
})

test('an untouched directory is reused any number of times', (t) => {
  const { pool, removed, wait } = open(t)
  const first = pool.take()
  for (let use = 0; use < 3; use += 1) {
    pool.giveBack(first)
    wait(1_000)
    assert.equal(pool.take(), first)
  }
  assert.deepEqual(removed, [])
})

for (const [what, touch] of [
  ['has something in it', (path: string) => writeFileSync(join(path, 'f'), '')],
  [
    'had something in it',
    (path: string) => (writeFileSync(join(path, 'f'), ''), rmSync(join(path, 'f'))),
  ],
  ['is open to others', (path: string) => chmodSync(path, 0o755)],
  ['is gone', (path: string) => rmSync(path, { recursive: true })],
] as const) {
  test(`a directory that ${what} is not reused`, async (t) => {
    const { pool, removed, wait } = open(t)
    const path = pool.take()
    pool.giveBack(path)
    wait(1_000)
    assert.equal(pool.take(), path)
    // The kernel's clock for files advances in ticks; a change is visible only after the next one.
    const before = lstatSync(path, { bigint: true }).ctimeNs
    for (let tries = 0; tries < 1e6 && changedAt(path) === before; tries += 1) touch(path)
    pool.giveBack(path)
    assert.deepEqual(removed, [path])
    assert.notEqual(pool.take(), path)
  })
}

function changedAt(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
}

test('for a directory too new for its change time, the content is checked', (t) => {
  const { pool, removed } = open(t)
  const path = pool.take()
  writeFileSync(join(path, 'f'), '')
  pool.giveBack(path)
  assert.deepEqual(removed, [path])
})
