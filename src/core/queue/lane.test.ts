import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { laneKey, tierOf, type LaneSpec, type Offer } from './lane.ts'

const LANE: LaneSpec = {
  project: 'p',
  queue: 'mail',
  labels: ['gpu'],
  executor: 'shell',
  weight: 2,
}
const OFFER: Offer = {
  projects: [],
  queues: ['urgent', 'mail'],
  labels: ['gpu', 'arch=arm64'],
  executors: ['shell', 'http'],
  slots: 4,
}

const TIERS: readonly [
  why: string,
  offer: Partial<Offer>,
  lane: Partial<LaneSpec>,
  tier: number,
][] = [
  ['the second queue of the list is the second tier', {}, {}, 1],
  ['the first queue of the list is served first', {}, { queue: 'urgent' }, 0],
  ['a queue named twice counts from its first place', { queues: ['mail', 'a', 'mail'] }, {}, 0],
  ['a queue that was not named is never served', {}, { queue: 'bulk' }, -1],
  ['queue names are case-sensitive', {}, { queue: 'Mail' }, -1],
  ['no queues, nothing to serve', { queues: [] }, {}, -1],
  ['no projects named means all of them', {}, { project: 'other' }, 1],
  ['a project that was named is served', { projects: ['o', 'p'] }, {}, 1],
  ['a project that was not named is not', { projects: ['o'] }, {}, -1],
  ['a worker may carry more labels than it needs', {}, { labels: [] }, 1],
  ['all labels must be there', {}, { labels: ['gpu', 'arch=arm64'] }, 1],
  ['one missing label is one too many', {}, { labels: ['gpu', 'ssd'] }, -1],
  ['a label with another value is another label', {}, { labels: ['arch=amd64'] }, -1],
  ['an executor it does not have', {}, { executor: 'container' }, -1],
  ['the name of a property is not an executor', {}, { executor: 'constructor' }, -1],
  ['a run as heavy as the whole worker fits', { slots: 2 }, {}, 1],
  ['a run heavier than the whole worker never fits', { slots: 1 }, {}, -1],
  ['a worker without slots serves nothing', { slots: 0 }, { weight: 1 }, -1],
]
for (const [why, offer, lane, tier] of TIERS) {
  test(why, () => assert.equal(tierOf({ ...OFFER, ...offer }, { ...LANE, ...lane }), tier))
}

const spec: fc.Arbitrary<LaneSpec> = fc.record({
  project: fc.string(),
  queue: fc.string(),
  labels: fc.uniqueArray(fc.string(), { maxLength: 6 }),
  executor: fc.string(),
  weight: fc.integer({ min: 1, max: 1_000 }),
})

test('the order of labels does not change the lane', () => {
  const shuffled = spec.chain((lane) =>
    fc.tuple(
      fc.constant(lane),
      fc.shuffledSubarray([...lane.labels], { minLength: lane.labels.length }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([lane, labels]) => {
      assert.equal(laneKey({ ...lane, labels }), laneKey(lane))
    }),
  )
})

test('computing the key does not reorder the labels', () => {
  const labels = ['b', 'a']
  laneKey({ ...LANE, labels })
  assert.deepEqual(labels, ['b', 'a'])
})

test('two lanes have the same key only if they are equal', () => {
  const normal = (lane: LaneSpec) => ({ ...lane, labels: lane.labels.toSorted() })
  const few = fc.constantFrom('', 'a', 'b', ',', '"', '","', '[')
  const close = fc.record({
    project: few,
    queue: few,
    labels: fc.uniqueArray(few, { maxLength: 3 }),
    executor: few,
    weight: fc.constantFrom(1, 2),
  })
  fc.assert(
    fc.property(close, close, (a, b) => {
      const same = JSON.stringify(normal(a)) === JSON.stringify(normal(b))
      assert.equal(laneKey(a) === laneKey(b), same)
    }),
    { numRuns: 2_000 },
  )
})
