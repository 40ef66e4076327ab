import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lane, Offer } from '../../../core/queue/lane.ts'
import type { Lease } from '../../../store/port.ts'
import { isKnownToWait, type LaneHint, rowsWanted } from './lane-hint.ts'
import { createLaneIndex, type LaneIndex } from './lane-index.ts'

const lane = (id: number, queue = 'default'): Lane => ({
  id,
  project: 'p',
  queue,
  labels: [],
  executor: 'handler:x',
  weight: 1,
})
const lease = (rank: number, pos: number) => ({ rank, pos }) as Lease

function boardWith(...lanes: Lane[]) {
  const laneIndex = createLaneIndex()
  laneIndex.learn(lanes)
  return { laneIndex, hint: (id: number) => laneIndex.get(id) as LaneHint }
}

describe('hints about a lane', () => {
  test('an unknown lane may have work', () => {
    const { hint } = boardWith(lane(1))
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('a short claim proves it empty', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 5, [lease(0, 10)], true)
    assert.equal(hint(1).mayHaveWork, false)
  })

  test('a full claim proves nothing about what is left', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 1, [lease(0, 10)], true)
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('a short claim that began before something entered proves nothing', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    const composedAt = hint(1).arrivals
    laneIndex.entered(1, { rank: 0, pos: 11 })
    laneIndex.claimed(1, 5, [], composedAt === hint(1).arrivals)
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('the last claimed run is the floor of the next claim', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 1, [lease(0, 10)], true)
    assert.deepEqual(hint(1).floor, { rank: 0, pos: 10 })
  })

  test('a later arrival of the same rank keeps the floor', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 1, [lease(0, 10)], true)
    laneIndex.entered(1, { rank: 0, pos: 11 })
    assert.deepEqual(hint(1).floor, { rank: 0, pos: 10 })
  })

  for (const [why, place] of [
    ['a more urgent arrival', { rank: -1, pos: 99 }],
    ['an older place given back', { rank: 0, pos: 3 }],
    ['an arrival at an unknown place', null],
  ] as const) {
    test(`${why} removes the floor, or it would be stepped over`, () => {
      const { laneIndex, hint } = boardWith(lane(1))
      laneIndex.claimed(1, 1, [lease(0, 10)], true)
      laneIndex.entered(1, place)
      assert.equal(hint(1).floor, null)
    })
  }

  test('forgetHints forgets everything', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 5, [lease(0, 10)], true)
    laneIndex.forgetHints()
    assert.deepEqual([hint(1).mayHaveWork, hint(1).floor], [true, null])
  })

  test('a refresh that finds nothing closes a lane, unless something entered meanwhile', () => {
    const { laneIndex, hint } = boardWith(lane(1), lane(2))
    const { apply } = laneIndex.startRefresh()
    laneIndex.entered(2, null)
    apply([])
    assert.deepEqual([hint(1).mayHaveWork, hint(2).mayHaveWork], [false, true])
  })

  test('a refresh that finds a run before the floor removes the floor', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 1, [lease(0, 10)], true)
    laneIndex.startRefresh().apply([{ laneId: 1, rank: 0, pos: 7, depth: 1 }])
    assert.equal(hint(1).floor, null)
  })

  test('a refresh that finds a run behind the floor keeps it', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 5, [lease(0, 10)], true)
    laneIndex.startRefresh().apply([{ laneId: 1, rank: 0, pos: 11, depth: 1 }])
    assert.deepEqual([hint(1).mayHaveWork, hint(1).floor], [true, { rank: 0, pos: 10 }])
  })

  test('a run that was seen counts as waiting until it, or one behind it, was claimed', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    assert.equal(isKnownToWait(hint(1)), false)
    laneIndex.entered(1, { rank: 0, pos: 5 })
    laneIndex.entered(1, { rank: 0, pos: 9 })
    laneIndex.claimed(1, 1, [lease(0, 5)], true)
    assert.equal(isKnownToWait(hint(1)), true)
    laneIndex.claimed(1, 1, [lease(0, 9)], true)
    assert.equal(isKnownToWait(hint(1)), false)
  })

  test('a claim on one lane says nothing about the urgency seen in others', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 1, [lease(5, 10)], true)
    laneIndex.startRefresh().apply([{ laneId: 1, rank: -3, pos: 11, depth: 1 }])
    assert.equal(hint(1).headRank, -3)
  })
})

describe('how many rows are requested from a lane', () => {
  test('unlimited while its runs were not counted', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    assert.equal(rowsWanted(hint(1)), Number.POSITIVE_INFINITY)
    laneIndex.entered(1, { rank: 0, pos: 1 })
    assert.equal(rowsWanted(hint(1)), Number.POSITIVE_INFINITY)
  })

  test('one more than entered since it was found empty, minus the claimed ones', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    laneIndex.claimed(1, 5, [], true)
    for (const pos of [1, 2, 3]) laneIndex.entered(1, { rank: 0, pos })
    assert.equal(rowsWanted(hint(1)), 4)
    laneIndex.claimed(1, 2, [lease(0, 1), lease(0, 2)], true)
    assert.equal(rowsWanted(hint(1)), 2)
  })

  test('the number that a refresh counted, plus later arrivals', () => {
    const { laneIndex, hint } = boardWith(lane(1))
    const { apply } = laneIndex.startRefresh()
    laneIndex.claimed(1, 5, [], true)
    laneIndex.entered(1, { rank: 0, pos: 8 })
    apply([{ laneId: 1, rank: 0, pos: 3, depth: 4 }])
    assert.equal(rowsWanted(hint(1)), 4 + 1 + 1)
  })

  test('unlimited again when there were more than counted, or counting was impossible', () => {
    for (const [why, happen] of [
      ['others filled it', (laneIndex: LaneIndex) => laneIndex.claimed(1, 1, [lease(0, 9)], false)],
      ['retries came back', (laneIndex: LaneIndex) => laneIndex.entered(1, null)],
      [
        'a refresh of a deep lane',
        (laneIndex: LaneIndex) => {
          const { maxCount, apply } = laneIndex.startRefresh()
          apply([{ laneId: 1, rank: 0, pos: 9, depth: maxCount }])
        },
      ],
      ['doubt', (laneIndex: LaneIndex) => laneIndex.forgetHints()],
    ] as const) {
      const { laneIndex, hint } = boardWith(lane(1))
      laneIndex.claimed(1, 5, [], true)
      happen(laneIndex)
      assert.equal(rowsWanted(hint(1)), Number.POSITIVE_INFINITY, why)
    }
  })
})

describe('the lanes an offer can serve', () => {
  const offer: Offer = {
    projects: [],
    queues: ['heavy', 'light'],
    labels: [],
    executors: ['handler:x'],
    slots: 4,
  }
  const openIn = (laneIndex: LaneIndex) =>
    laneIndex
      .viewOf(offer)
      .open()
      .map(({ tier, projects }) => [
        tier,
        projects.flatMap(({ lanes }) => lanes.map((hint) => hint.lane.id)),
      ])

  test('lanes are found by tier, including new lanes', () => {
    const { laneIndex } = boardWith(lane(1, 'light'))
    assert.deepEqual(openIn(laneIndex), [[1, [1]]])
    laneIndex.learn([lane(2, 'heavy'), lane(3, 'other')])
    assert.deepEqual(openIn(laneIndex), [
      [0, [2]],
      [1, [1]],
    ])
  })

  test('empty, paused or rate-limited lanes are not open', () => {
    const { laneIndex } = boardWith(lane(1, 'light'), lane(2, 'heavy'))
    laneIndex.claimed(1, 1, [], true)
    laneIndex.applyRules(({ queue }) => ({ isPaused: queue === 'heavy', rate: null }))
    assert.deepEqual(openIn(laneIndex), [])
    laneIndex.entered(1, null)
    laneIndex.applyRules(() => ({ isPaused: false, rate: null }))
    assert.deepEqual(openIn(laneIndex), [
      [0, [2]],
      [1, [1]],
    ])
  })

  test('new rules open lanes that were rate-limited', () => {
    const { laneIndex, hint } = boardWith(lane(1, 'light'))
    const rate = { projectId: 1, queue: 'light' }
    laneIndex.applyRules(() => ({ isPaused: false, rate }))
    laneIndex.limitUntil(1, 60_000)
    assert.deepEqual(openIn(laneIndex), [])
    laneIndex.applyRules(() => ({ isPaused: false, rate: null }))
    assert.equal(hint(1).limitedUntilMono, null)
    assert.deepEqual(openIn(laneIndex), [[1, [1]]])
  })
})
