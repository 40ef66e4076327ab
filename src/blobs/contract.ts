import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { digestOf } from './key.ts'
import { BlobError, type Blobs, type BlobErrorKind } from './port.ts'

/** Blobs under test, with access to the underlying storage. */
export interface OpenedBlobs {
  readonly blobs: Blobs
  /** Advances the age of everything written so far. */
  advance(ms: number): void
  /** Changes the stored bytes of a key, as a failing disk might. */
  corrupt(key: string, change: (bytes: Uint8Array) => Uint8Array): Promise<void>
  close(): Promise<void>
}

const HOUR_MS = 3_600_000
let areas = 0
const newArea = () => `area${(areas += 1)}`

function errorKind(kind: BlobErrorKind) {
  return (error: unknown) => error instanceof BlobError && error.kind === kind
}

/** The storage of one contract; it is opened before the first test. */
interface BlobsUnderTest {
  opened: OpenedBlobs
}

function put(
  given: BlobsUnderTest,
  bytes: Uint8Array,
  area = newArea(),
  label = 'one',
): Promise<string> {
  return given.opened.blobs.put({ area, label }, bytes)
}

async function listAll(
  given: BlobsUnderTest,
  area: string,
  olderThanMs = 0,
  limit = 3,
): Promise<string[]> {
  const found: string[] = []
  let next: string | null = null
  do {
    const page = await given.opened.blobs.list({ area, after: next, olderThanMs, limit })
    assert.ok(page.keys.length <= limit)
    found.push(...page.keys)
    ;({ next } = page)
  } while (next !== null)
  return found.toSorted()
}

/** The behaviour of every blob storage. */
export function blobsContract(name: string, open: () => Promise<OpenedBlobs>): void {
  describe(`Blobs in ${name}`, () => {
    const given = {} as BlobsUnderTest
    before(async () => void (given.opened = await open()))
    after(() => given.opened.close())
    testReading(given)
    testRefusals(given)
    testListing(given)
    test('check succeeds when blobs can be written', () => given.opened.blobs.check())
  })
}

function testReading(given: BlobsUnderTest): void {
  for (const size of [0, 1, 65_535, 65_536, 65_537, 8 * 1024 * 1024]) {
    test(`${size} bytes are read back unchanged`, async () => {
      const bytes = randomBytes(size)
      const key = await put(given, bytes)
      assert.ok(key.endsWith(`-${digestOf(bytes)}`), key)
      assert.deepEqual(Buffer.from(await given.opened.blobs.get(key)), bytes)
    })
  }

  test('a thousand blobs of any size are read back unchanged', async () => {
    const area = newArea()
    for (let count = 0; count < 1_000; count += 1) {
      const bytes = randomBytes(Math.floor(Math.random() ** 4 * 100_000))
      const key = await put(given, bytes, area, `n${count}`)
      assert.deepEqual(Buffer.from(await given.opened.blobs.get(key)), bytes)
    }
  })

  test('a part can be read alone, and ends where the blob does', async () => {
    const key = await put(given, Buffer.from('0123456789'))
    const part = async (from: number, length: number) =>
      Buffer.from(await given.opened.blobs.get(key, { from, length })).toString()
    assert.equal(await part(0, 4), '0123')
    assert.equal(await part(3, 3), '345')
    assert.equal(await part(8, 100), '89')
    assert.equal(await part(10, 5), '')
    assert.equal(await part(100, 5), '')
  })

  test('a blob that was put twice exists once', async () => {
    const area = newArea()
    const bytes = randomBytes(10)
    assert.equal(await put(given, bytes, area), await put(given, bytes, area))
    assert.equal((await listAll(given, area)).length, 1)
  })
}

function testRefusals(given: BlobsUnderTest): void {
  test('a missing blob is reported as missing, and deleting it is not an error', async () => {
    const key = await put(given, randomBytes(9))
    await given.opened.blobs.delete([key, key])
    await assert.rejects(given.opened.blobs.get(key), errorKind('missing'))
    await assert.rejects(given.opened.blobs.get(key, { from: 0, length: 1 }), errorKind('missing'))
    await given.opened.blobs.delete([key])
  })

  for (const [why, key] of [
    ['another file', '../../etc/passwd'],
    ['a file outside', `area/..-${'0'.repeat(64)}`],
    ['nothing', ''],
    ['a folder', 'area'],
    ['a query', `area/%-${'0'.repeat(64)}`],
  ] as const) {
    test(`a key that names ${why} is refused`, async () => {
      await assert.rejects(given.opened.blobs.get(key), errorKind('missing'))
      await assert.rejects(async () => given.opened.blobs.delete([key]), errorKind('missing'))
    })
  }

  for (const [why, change] of [
    ['a bit was flipped', (bytes) => bytes.with(50, (bytes[50] as number) ^ 1)],
    ['it was cut short', (bytes) => bytes.subarray(0, 99)],
    ['something was added', (bytes) => Buffer.concat([bytes, bytes])],
    ['it was emptied', () => new Uint8Array()],
  ] as const satisfies [string, (bytes: Uint8Array) => Uint8Array][]) {
    test(`a blob is refused when ${why}`, async () => {
      const key = await put(given, randomBytes(100))
      await given.opened.corrupt(key, change)
      await assert.rejects(given.opened.blobs.get(key), errorKind('corrupt'))
      await assert.rejects(given.opened.blobs.get(key), new RegExp(key))
    })
  }
}

function testListing(given: BlobsUnderTest): void {
  test('listing returns every blob of its area once, page by page, and none of another', async () => {
    const area = newArea()
    const keys: string[] = []
    for (let count = 0; count < 10; count += 1) {
      keys.push(await put(given, randomBytes(20), area, `n${count}`))
      await put(given, randomBytes(20), `${area}x`)
    }
    keys.sort()
    for (const limit of [1, 3, 10, 11]) assert.deepEqual(await listAll(given, area, 0, limit), keys)
    assert.deepEqual(await listAll(given, newArea()), [])
  })

  test('blobs younger than requested are left out', async () => {
    const area = newArea()
    const old = await put(given, randomBytes(5), area, 'old')
    given.opened.advance(HOUR_MS)
    const young = await put(given, randomBytes(5), area, 'young')
    assert.deepEqual(await listAll(given, area, HOUR_MS), [old])
    assert.deepEqual(await listAll(given, area, 2 * HOUR_MS), [])
    given.opened.advance(HOUR_MS)
    assert.deepEqual(await listAll(given, area, HOUR_MS), [old, young].toSorted())
  })
}
