import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { blobsContract } from '../contract.ts'
import { openFileBlobs } from './blobs.ts'
import { fileOf } from './layout.ts'

const temporary = () => mkdtempSync(join(tmpdir(), 'punctual-blobs-'))

blobsContract('a directory', async () => {
  const directory = temporary()
  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const blobs = await openFileBlobs({ directory, now })
  return {
    blobs: {
      ...blobs,
      // Files are dated by the machine; here by the clock that the test turns.
      async put(name, bytes) {
        const key = await blobs.put(name, bytes)
        await utimes(join(directory, fileOf(key)), now() / 1_000, now() / 1_000)
        return key
      },
    },
    pass: (ms) => void (aheadMs += ms),
    async spoil(key, change) {
      const path = join(directory, fileOf(key))
      await writeFile(path, change(await readFile(path)))
    },
    close: async () => rmSync(directory, { recursive: true }),
  }
})

test('nobody but its owner can look into the directory, and nothing unfinished stays in it', async (t) => {
  const directory = join(temporary(), 'blobs')
  t.after(() => rmSync(join(directory, '..'), { recursive: true }))
  const blobs = await openFileBlobs({ directory, now: Date.now })
  const key = await blobs.put({ area: 'a', label: 'b' }, Buffer.from('c'))
  await blobs.check()
  assert.equal(statSync(directory).mode & 0o777, 0o700)
  assert.equal(statSync(join(directory, fileOf(key))).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(directory, '.unfinished')), [])
})

test('what an earlier life did not finish is removed once it is surely forgotten', async (t) => {
  const directory = temporary()
  t.after(() => rmSync(directory, { recursive: true }))
  const blobs = await openFileBlobs({ directory, now: Date.now })
  await blobs.check()
  const unfinished = join(directory, '.unfinished')
  await writeFile(join(unfinished, 'left'), 'x')
  await openFileBlobs({ directory, now: Date.now })
  assert.deepEqual(readdirSync(unfinished), ['left'])
  await openFileBlobs({ directory, now: () => Date.now() + 3_700_000 })
  assert.deepEqual(readdirSync(unfinished), [])
})
