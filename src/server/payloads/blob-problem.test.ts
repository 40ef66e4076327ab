import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlobError } from '../../blobs/port.ts'
import { createRowBlobs } from '../../blobs/store/blobs.ts'
import { type BlobRows, StoreError, type StoreTrouble } from '../../store/port.ts'
import { blobProblem } from './blob-problem.ts'

/** What a caller hears whose blob meets this error of the store that keeps blobs as rows. */
async function heard(trouble: StoreTrouble | undefined): Promise<unknown> {
  const putBlob = () =>
    Promise.reject(new StoreError('unavailable', 'No space left on device', { trouble }))
  const rows = { version: 'SQLite', putBlob } as unknown as BlobRows & { version: string }
  const name = { area: 'a', label: 'b' }
  const error: unknown = await createRowBlobs(rows)
    .put(name, Buffer.from('x'))
    .catch((thrown: unknown) => thrown)
  return blobProblem(error, 'input')
}

for (const [trouble, code, message] of [
  ['full', 'storage_full', /^no room for the input: the disk is full: .*No space left on device$/],
  ['damaged', 'store_damaged', /the database is damaged/],
  ['replaced', 'store_replaced', /the files of the database were changed/],
  [undefined, 'blobs_unavailable', /^the input: the blob \S+ cannot be written/],
] as const) {
  test(`a blob as rows of a store in trouble (${trouble ?? 'unknown'}) is ${code}`, async () => {
    const { code: actual, message: said } = (await heard(trouble)) as Error & { code: string }
    assert.equal(actual, code)
    assert.match(said, message)
  })
}

test('what is no error of blobs stays as it is', () => {
  const error = new Error('else')
  assert.equal(blobProblem(error, 'input'), error)
  assert.ok(blobProblem(new BlobError('missing', 'x'), 'input') instanceof Error)
})
