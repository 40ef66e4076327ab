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
import { BlobError, type BlobErrorKind } from '../port.ts'
import { openFileBlobs } from './blobs.ts'
import { pathOfKey } from './layout.ts'

const temporary = () => mkdtempSync(join(tmpdir(), 'punctual-blobs-'))

blobsContract('a directory', async () => {
  const directory = temporary()
  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const blobs = await openFileBlobs({ directory, now })
  return {
    blobs: {
      ...blobs,
      // The machine dates the files; here the test's clock sets the dates.
      async put(name, bytes) {
        const key = await blobs.put(name, bytes)
        await utimes(join(directory, pathOfKey(key)), now() / 1_000, now() / 1_000)
        return key
      },
    },
    advance: (ms) => void (aheadMs += ms),
    async corrupt(key, change) {
      const path = join(directory, pathOfKey(key))
      await writeFile(path, change(await readFile(path)))
    },
    close: async () => rmSync(directory, { recursive: true }),
  }
})

test('only the owner can read the directory, and no unfinished files stay in it', async (t) => {
  const directory = join(temporary(), 'blobs')
  t.after(() => rmSync(join(directory, '..'), { recursive: true }))
  const blobs = await openFileBlobs({ directory, now: Date.now })
  const key = await blobs.put({ area: 'a', label: 'b' }, Buffer.from('c'))
  await blobs.check()
  assert.equal(statSync(directory).mode & 0o777, 0o700)
  assert.equal(statSync(join(directory, pathOfKey(key))).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(directory, '.unfinished')), [])
})

test('unfinished files of an earlier process are removed once they are old enough', async (t) => {
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

const trouble = (kind: BlobErrorKind) => (error: unknown) =>
  error instanceof BlobError && error.kind === kind

test('while the directory is away no blob counts as missing, and all are back when it returns', async (t) => {
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
  // After an unmount, an empty directory stays behind.
  mkdirSync(directory)
  await assert.rejects(blobs.get(key), trouble('unavailable'))
  rmSync(directory, { recursive: true })
  renameSync(aside, directory)
  assert.equal(Buffer.from(await blobs.get(key)).toString(), 'one')
  assert.equal(Buffer.from(await blobs.get(await put('three'))).toString(), 'three')
})

test('a directory that was deleted and recreated is written to without a restart', async (t) => {
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
    // A link in place of a mount: it leads to one file system, and then to another.
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
