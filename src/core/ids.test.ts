import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PunctualError } from './errors.ts'
import {
  createMinter,
  ID_EPOCH_MS,
  idAtMs,
  IDS_PER_MS,
  msOfId,
  parsePublicId,
  publicId,
  requirePublicId,
  slotOfId,
  SLOTS,
  type IdKind,
} from './ids.ts'

const NOW_MS = Date.UTC(2026, 2, 4, 12)
/** The last millisecond whose ids fit into 53 bits. */
const LAST_MS = ID_EPOCH_MS + 2 ** 41 - 1
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const anyId = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const anySlot = fc.integer({ min: 0, max: SLOTS - 1 })
/** From two years before the epoch to sixty years after it: a wall clock that cannot be trusted. */
const anyTime = fc.integer({ min: ID_EPOCH_MS - 2 ** 36, max: ID_EPOCH_MS + 2 ** 40 })

/** Mints one id per clock reading. */
function mintAll(options: {
  slot: number
  floor?: number
  times: readonly number[]
  chance?: number
}) {
  let reading = 0
  const minter = createMinter({
    slot: options.slot,
    floor: options.floor ?? 0,
    now: () => options.times[reading] ?? NOW_MS,
    random: () => options.chance ?? 0.5,
  })
  return options.times.map((_, index) => {
    reading = index
    return minter.mint()
  })
}

const isIncreasing = (ids: readonly number[]) =>
  ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? 0))

test('ids strictly increase whatever the clock does', () => {
  fc.assert(
    fc.property(fc.array(anyTime, { maxLength: 400 }), anySlot, chance, (times, slot, luck) => {
      const ids = mintAll({ slot, times, chance: luck })
      assert.ok(isIncreasing(ids))
      assert.ok(ids.every((id) => Number.isSafeInteger(id) && slotOfId(id) === slot))
    }),
  )
})

test('a clock that stands still does not run out of ids', () => {
  const ids = mintAll({ slot: 3, times: Array(10_000).fill(NOW_MS) })
  assert.ok(isIncreasing(ids))
  // Ids borrow from later milliseconds, of which the random start uses up at most a quarter each.
  assert.ok(msOfId(ids.at(-1) ?? 0) <= NOW_MS + Math.ceil(10_000 / 96))
})

test('no id is at or below the floor, not even in the same millisecond', () => {
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 0, max: 2 ** 52 }), anySlot, (time, floor, slot) => {
      const [first] = mintAll({ slot, floor, times: [time] })
      assert.ok((first ?? 0) > floor)
    }),
  )
})

test('two slots never mint the same id, however their clocks differ', () => {
  const times = fc.array(anyTime, { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(times, times, anySlot, anySlot, (here, there, slot, other) => {
      fc.pre(slot !== other)
      const mine = new Set(mintAll({ slot, times: here }))
      assert.ok(mintAll({ slot: other, times: there }).every((id) => !mine.has(id)))
    }),
  )
})

test('the mark is the highest minted id, and the floor before the first', () => {
  const minter = createMinter({ slot: 1, floor: 77, now: () => NOW_MS, random: () => 0 })
  assert.equal(minter.mark, 77)
  const id = minter.mint()
  assert.equal(minter.mark, id)
})

test('an id contains its time and slot', () => {
  const [id = 0] = mintAll({ slot: 31, times: [NOW_MS] })
  assert.deepEqual([msOfId(id), slotOfId(id)], [NOW_MS, 31])
  assert.ok(id >= idAtMs(NOW_MS) && id < idAtMs(NOW_MS + 1))
})

test('times before the epoch have the first id, and the last time still fits', () => {
  assert.equal(idAtMs(0), 0)
  assert.equal(idAtMs(ID_EPOCH_MS), 0)
  assert.ok(idAtMs(LAST_MS) + IDS_PER_MS - 1 <= Number.MAX_SAFE_INTEGER)
  assert.equal(msOfId(idAtMs(LAST_MS)), LAST_MS)
})

test('the last characters differ between milliseconds, so that a short suffix identifies a run', () => {
  let seed = 1
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  let now = NOW_MS
  const minter = createMinter({ slot: 0, floor: 0, now: () => now, random })
  const suffixes = new Set<string>()
  for (let i = 0; i < 500; i += 1) {
    now += 1_000
    suffixes.add(publicId('run', minter.mint()).slice(-1))
  }
  assert.ok(suffixes.size >= 30, `${suffixes.size} of 32 last characters`)
})

test('a public id is read back as its number, also in capitals', () => {
  const kinds = fc.constantFrom<IdKind>('run', 'job', 'ses', 'lane')
  fc.assert(
    fc.property(anyId, kinds, (id, kind) => {
      const text = publicId(kind, id)
      assert.match(text, /^[a-z]+_[0-9a-hjkmnp-tv-z]{11}$/)
      assert.equal(parsePublicId(kind, text), id)
      const typed = `${kind}_${text.slice(kind.length + 1).toUpperCase()}`
      assert.equal(parsePublicId(kind, typed), id)
    }),
  )
})

test('public ids sort like their numbers', () => {
  fc.assert(
    fc.property(anyId, anyId, (a, b) => {
      assert.equal(publicId('run', a) < publicId('run', b), a < b)
    }),
  )
})

const TYPED: readonly [why: string, text: string, id: number | undefined][] = [
  ['zero is an id', 'run_00000000000', 0],
  ['the letter o is read as zero', 'run_ooooooooooO', 0],
  ['i and l are read as one', 'run_0000000000l', 1],
  ['the largest id there is', 'run_7zzzzzzzzzz', Number.MAX_SAFE_INTEGER],
  ['one more than the largest', 'run_80000000000', undefined],
  ['more than any number holds', 'run_zzzzzzzzzzz', undefined],
  ['another kind', 'ses_00000000000', undefined],
  ['no kind', '00000000000', undefined],
  ['one character short', 'run_0000000000', undefined],
  ['one character long', 'run_000000000000', undefined],
  ['a letter outside the alphabet', 'run_0000000000u', undefined],
  ['a sign', 'run_-0000000001', undefined],
  ['a blank at the end', 'run_0000000000 ', undefined],
  ['a line end at the end', 'run_0000000000\n', undefined],
  ['digits of another script', 'run_0000000000٣', undefined],
  ['a Kelvin sign, which lower-cases to k', 'run_0000000000\u212A', undefined],
  ['a dotted capital I, which lower-cases to two characters', 'run_000000000\u0130', undefined],
  ['an emoji of two code units', 'run_000000000😀', undefined],
  ['nothing', '', undefined],
  ['the prefix alone', 'run_', undefined],
  ['ten thousand characters', `run_${'0'.repeat(10_000)}`, undefined],
]
for (const [why, text, id] of TYPED) {
  test(`${why}: ${id === undefined ? 'not an id' : 'an id'}`, () => {
    assert.equal(parsePublicId('run', text), id)
  })
}

test('any text is rejected or read as the id that it stands for', () => {
  const alike = fc.string({ minLength: 11, maxLength: 11, unit: 'binary' })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        alike.map((text) => `run_${text}`),
      ),
      (text) => {
        const id = parsePublicId('run', text)
        if (id === undefined) return
        const meant = text.slice(4).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1')
        assert.equal(publicId('run', id), `run_${meant}`)
      },
    ),
  )
})

test('an error for an invalid id names the field', () => {
  assert.equal(requirePublicId('run', 'run_00000000001', 'id'), 1)
  assert.throws(
    () => requirePublicId('run', 'job_00000000001', 'runs.3.id'),
    (error) =>
      error instanceof PunctualError && error.code === 'invalid_id' && error.field === 'runs.3.id',
  )
})
