import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PunctualError } from '../../../core/errors.ts'
import { EMPTY_BATCH, endCommandFor } from '../../contract/fixture.ts'
import type { Lease, Store } from '../../port.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { openSqliteStore } from '../store.ts'

const CHILD = fileURLToPath(new URL('../contract/child.ts', import.meta.url))
const GRACE_MS = 60_000

/** A process that writes to the store; resolves once it has acknowledged this many runs. */
async function startWriter(
  path: string,
  runs: number,
): Promise<{ child: ChildProcess; acknowledged: number[] }> {
  const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const acknowledged: number[] = []
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      acknowledged.push(Number(line))
      if (acknowledged.length === runs) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the writer ended by itself with ${code}`)))
  })
  return { child, acknowledged }
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

async function allOrphans(store: Store): Promise<Lease[]> {
  const all: Lease[] = []
  for (let after = 0; ;) {
    const page = await store.orphans({ after, limit: 100 })
    all.push(...page)
    if (page.length < 100) return all
    after = page.at(-1)?.runId ?? 0
  }
}

test('a second process is refused while the first one lives, and admitted once the first is killed', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const { child } = await startWriter(path, 1)
  for (const inThread of [false, true]) {
    await assert.rejects(
      openSqliteStore({ path, inThread }),
      (error) => error instanceof PunctualError && error.code === 'store_in_use',
    )
  }
  await kill(child)
  await (await openSqliteStore({ path })).close()
})

test('after kill -9 every acknowledged run is there, held for its worker, then an orphan', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  let nowMs = Date.now()
  for (let round = 0; round < 3; round += 1) {
    const { child, acknowledged } = await startWriter(path, 200)
    await kill(child)

    const store = await openSqliteStore({ path, now: () => nowMs })
    const joined = await store.join({ name: 'heir', ttlMs: 30_000, graceMs: GRACE_MS })
    assert.ok(joined && joined.idFloor >= Math.max(...acknowledged))
    const { running } = await store.liveCounts()
    assert.ok(running >= acknowledged.length)
    assert.deepEqual(await store.orphans({ after: 0, limit: 1 }), [])

    nowMs += GRACE_MS
    const orphans = await allOrphans(store)
    assert.equal(orphans.length, running)
    const found = new Set(orphans.map(({ runId }) => runId))
    assert.ok(acknowledged.every((id) => found.has(id)))
    await endAll(store, joined.node, orphans)
    assert.equal((await store.liveCounts()).running, 0)
    await store.close()
  }
})

async function endAll(store: Store, node: number, leases: readonly Lease[]): Promise<void> {
  const ends = leases.map((lease) => endCommandFor(lease, { to: 'failed', cause: 'lost' }))
  await store.tick({ ...EMPTY_BATCH, node, ends })
}
