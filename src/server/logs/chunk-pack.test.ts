import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, type OutputEntry, textOf } from '../../core/run/output.ts'
import { entriesOf, ofEntries, packChunk, printedBytes, unpackChunk } from './chunk-pack.ts'

const entry = fc.tuple(
  fc.nat(),
  fc.constantFrom(0 as const, 1 as const, 2 as const),
  fc.oneof(
    fc.uint8Array({ maxLength: 50 }).map(textOf),
    fc.constantFrom('\n', 'é\n€', 'x'.repeat(700), ''),
  ),
)

test('a packed chunk is unpacked to the same output', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 20 }), async (entries) => {
      const unpacked = unpackChunk(await packChunk(entries))
      assert.deepEqual(entriesOf(unpacked), entries)
      const printed = entries
        .filter(([, stream]) => stream !== 0)
        .map(([, , text]) => bytesOf(text))
      assert.deepEqual(printedBytes(unpacked), Buffer.concat(printed))
      assert.deepEqual(ofEntries(entries), unpacked)
    }),
  )
})

test('a long chunk is compressed, a short one keeps its old form', async () => {
  const long: OutputEntry[] = [[1, 1, 'the same line again\n'.repeat(5_000)]]
  assert.ok((await packChunk(long)).length < 1_000)
  const short: OutputEntry[] = [[1, 1, 'a\n']]
  assert.equal((await packChunk(short)).toString(), '[[1,1,"a\\n"]]')
})

test('a frame that would unpack to more than any chunk is refused', async () => {
  const bomb = await packChunk([[0, 1, 'x'.repeat(5 * 1024 * 1024)]])
  assert.ok(bomb.length < 10_000)
  assert.throws(() => unpackChunk(bomb), /larger than/)
})
