import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { blobsContract } from '../contract.ts'
import { BlobError, type BlobTrouble } from '../port.ts'
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

const trouble = (kind: BlobTrouble) => (error: unknown) =>
  error instanceof BlobError && error.trouble === kind

test('while the directory is away nothing counts as lost, and all is well when it is back', async (t) => {
  const home = temporary()
  t.after(() => rmSync(home, { recursive: true }))
  const [directory, aside] = [join(home, 'blobs'), join(home, 'aside')]
  const blobs = await openFileBlobs({ directory, now: Date.now })
  const put = (label: string) => blobs.put({ area: 'a', label }, Buffer.from(label))
  const assertAway = async (key: string) => {
    await assert.rejects(put('two'), trouble('unavailable'))
    await assert.rejects(blobs.check(), trouble('unavailable'))
    await assert.rejects(blobs.get(key), trouble('unavailable'))
    await assert.rejects(blobs.get(key, { from: 0, length: 1 }), trouble('unavailable'))
  }
  const key = await put('one')
  renameSync(directory, aside)
  await assertAway(key)
  // Where a file system was mounted, an empty directory stays behind.
  mkdirSync(directory)
  await assert.rejects(blobs.get(key), trouble('unavailable'))
  rmSync(directory, { recursive: true })
  renameSync(aside, directory)
  assert.equal(Buffer.from(await blobs.get(key)).toString(), 'one')
  assert.equal(Buffer.from(await blobs.get(await put('three'))).toString(), 'three')
})

test('a directory that was deleted and made again is written to without a restart', async (t) => {
  const home = temporary()
  t.after(() => rmSync(home, { recursive: true }))
  const directory = join(home, 'blobs')
  const blobs = await openFileBlobs({ directory, now: Date.now })
  const put = (label: string) => blobs.put({ area: 'a', label }, Buffer.from(label))
  const lost = await put('one')
  rmSync(directory, { recursive: true })
  await assert.rejects(put('two'), trouble('unavailable'))
  mkdirSync(directory)
  assert.equal(Buffer.from(await blobs.get(await put('two'))).toString(), 'two')
  await assert.rejects(blobs.get(lost), trouble('missing'))
})

const ELSEWHERE = '/dev/shm'
const isElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync(tmpdir()).dev

test(
  'what stays behind when a file system is unmounted is not written to, and loses nothing',
  { skip: !isElsewhere && `mount -t tmpfs tmpfs ${ELSEWHERE}` },
  async (t) => {
    const home = temporary()
    const bare = mkdtempSync(join(ELSEWHERE, 'punctual-blobs-'))
    t.after(() => [home, bare].forEach((path) => rmSync(path, { recursive: true })))
    // A link stands for the mount: it leads to one file system, and then to another.
    const [directory, mounted] = [join(home, 'blobs'), join(home, 'mounted')]
    const lead = (to: string) => {
      rmSync(directory, { force: true })
      symlinkSync(to, directory)
    }
    mkdirSync(mounted)
    lead(mounted)
    const blobs = await openFileBlobs({ directory, now: Date.now })
    const put = (label: string) => blobs.put({ area: 'a', label }, Buffer.from(label))
    const key = await put('one')
    lead(bare)
    for (let turn = 0; turn < 3; turn += 1) {
      await assert.rejects(put('two'), trouble('unavailable'))
      await assert.rejects(blobs.get(key), trouble('unavailable'))
    }
    lead(mounted)
    assert.equal(Buffer.from(await blobs.get(key)).toString(), 'one')
    await put('two')
  },
)
