import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lane, Offer } from '../../core/queue/lane.ts'
import type { Lease } from '../../store/port.ts'
import {
  createLaneBoard,
  isKnownToWait,
  type LaneBoard,
  type LaneHint,
  wantedFrom,
} from './lane-index.ts'

const lane = (id: number, queue = 'default'): Lane => ({
  ...{ id, project: 'p', queue, labels: [], executor: 'handler:x', weight: 1 },
})
const lease = (rank: number, pos: number) => ({ rank, pos }) as Lease

function boardWith(...lanes: Lane[]) {
  const board = createLaneBoard()
  board.learn(lanes)
  return { board, hint: (id: number) => board.get(id) as LaneHint }
}

describe('what a node believes about a lane', () => {
  test('a lane nobody looked at may have work', () => {
    const { hint } = boardWith(lane(1))
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('a short claim proves it empty', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 5, [lease(0, 10)], true)
    assert.equal(hint(1).mayHaveWork, false)
  })

  test('a full claim proves nothing about what is left', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 1, [lease(0, 10)], true)
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('a short claim that began before something entered proves nothing', () => {
    const { board, hint } = boardWith(lane(1))
    const composedAt = hint(1).arrivals
    board.entered(1, { rank: 0, pos: 11 })
    board.claimed(1, 5, [], composedAt === hint(1).arrivals)
    assert.equal(hint(1).mayHaveWork, true)
  })

  test('what was claimed is the floor of the next claim', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 1, [lease(0, 10)], true)
    assert.deepEqual(hint(1).floor, { rank: 0, pos: 10 })
  })

  test('a later arrival of the same rank keeps the floor', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 1, [lease(0, 10)], true)
    board.entered(1, { rank: 0, pos: 11 })
    assert.deepEqual(hint(1).floor, { rank: 0, pos: 10 })
  })

  for (const [why, place] of [
    ['a more urgent arrival', { rank: -1, pos: 99 }],
    ['an older place given back', { rank: 0, pos: 3 }],
    ['an arrival at an unknown place', null],
  ] as const) {
    test(`${why} removes the floor, or it would be stepped over`, () => {
      const { board, hint } = boardWith(lane(1))
      board.claimed(1, 1, [lease(0, 10)], true)
      board.entered(1, place)
      assert.equal(hint(1).floor, null)
    })
  }

  test('doubt forgets everything', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 5, [lease(0, 10)], true)
    board.doubt()
    assert.deepEqual([hint(1).mayHaveWork, hint(1).floor], [true, null])
  })

  test('a look that finds nothing closes a lane, unless something entered meanwhile', () => {
    const { board, hint } = boardWith(lane(1), lane(2))
    const { seen } = board.look()
    board.entered(2, null)
    seen([])
    assert.deepEqual([hint(1).mayHaveWork, hint(2).mayHaveWork], [false, true])
  })

  test('a look that finds a run before the floor removes the floor', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 1, [lease(0, 10)], true)
    board.look().seen([{ laneId: 1, rank: 0, pos: 7, depth: 1 }])
    assert.equal(hint(1).floor, null)
  })

  test('a look that finds a run behind the floor keeps it', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 5, [lease(0, 10)], true)
    board.look().seen([{ laneId: 1, rank: 0, pos: 11, depth: 1 }])
    assert.deepEqual([hint(1).mayHaveWork, hint(1).floor], [true, { rank: 0, pos: 10 }])
  })

  test('a run that was seen waits until it, or one behind it, was claimed', () => {
    const { board, hint } = boardWith(lane(1))
    assert.equal(isKnownToWait(hint(1)), false)
    board.entered(1, { rank: 0, pos: 5 })
    board.entered(1, { rank: 0, pos: 9 })
    board.claimed(1, 1, [lease(0, 5)], true)
    assert.equal(isKnownToWait(hint(1)), true)
    board.claimed(1, 1, [lease(0, 9)], true)
    assert.equal(isKnownToWait(hint(1)), false)
  })

  test('a claim on one lane says nothing about the urgency that others were seen with', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 1, [lease(5, 10)], true)
    board.look().seen([{ laneId: 1, rank: -3, pos: 11, depth: 1 }])
    assert.equal(hint(1).headRank, -3)
  })
})

describe('how much is asked of a lane', () => {
  test('everything, while nobody has counted what stands there', () => {
    const { board, hint } = boardWith(lane(1))
    assert.equal(wantedFrom(hint(1)), Number.POSITIVE_INFINITY)
    board.entered(1, { rank: 0, pos: 1 })
    assert.equal(wantedFrom(hint(1)), Number.POSITIVE_INFINITY)
  })

  test('one more than entered since it was found empty, less what was claimed', () => {
    const { board, hint } = boardWith(lane(1))
    board.claimed(1, 5, [], true)
    for (const pos of [1, 2, 3]) board.entered(1, { rank: 0, pos })
    assert.equal(wantedFrom(hint(1)), 4)
    board.claimed(1, 2, [lease(0, 1), lease(0, 2)], true)
    assert.equal(wantedFrom(hint(1)), 2)
  })

  test('what a look has counted, and what came meanwhile', () => {
    const { board, hint } = boardWith(lane(1))
    const { seen } = board.look()
    board.claimed(1, 5, [], true)
    board.entered(1, { rank: 0, pos: 8 })
    seen([{ laneId: 1, rank: 0, pos: 3, depth: 4 }])
    assert.equal(wantedFrom(hint(1)), 4 + 1 + 1)
  })

  test('everything again when more was there than was counted, or nobody could count', () => {
    for (const [why, happen] of [
      ['others filled it', (board: LaneBoard) => board.claimed(1, 1, [lease(0, 9)], false)],
      ['retries came back', (board: LaneBoard) => board.entered(1, null)],
      [
        'a look at a deep lane',
        (board: LaneBoard) => {
          const { most, seen } = board.look()
          seen([{ laneId: 1, rank: 0, pos: 9, depth: most }])
        },
      ],
      ['doubt', (board: LaneBoard) => board.doubt()],
    ] as const) {
      const { board, hint } = boardWith(lane(1))
      board.claimed(1, 5, [], true)
      happen(board)
      assert.equal(wantedFrom(hint(1)), Number.POSITIVE_INFINITY, why)
    }
  })
})

describe('what an offer can serve', () => {
  const offer: Offer = {
    ...{ projects: [], queues: ['heavy', 'light'], labels: [], executors: ['handler:x'], slots: 4 },
  }
  const openIn = (board: LaneBoard) =>
    board
      .viewOf(offer)
      .open()
      .map(({ tier, projects }) => [
        tier,
        projects.flatMap(({ lanes }) => lanes.map((hint) => hint.lane.id)),
      ])

  test('lanes are found by tier, and new lanes are found too', () => {
    const { board } = boardWith(lane(1, 'light'))
    assert.deepEqual(openIn(board), [[1, [1]]])
    board.learn([lane(2, 'heavy'), lane(3, 'other')])
    assert.deepEqual(openIn(board), [
      [0, [2]],
      [1, [1]],
    ])
  })

  test('lanes that are empty or rest are not open', () => {
    const { board } = boardWith(lane(1, 'light'), lane(2, 'heavy'))
    board.claimed(1, 1, [], true)
    board.follow(({ queue }) => ({ isResting: queue === 'heavy', rate: null }))
    assert.deepEqual(openIn(board), [])
    board.entered(1, null)
    board.follow(() => ({ isResting: false, rate: null }))
    assert.deepEqual(openIn(board), [
      [0, [2]],
      [1, [1]],
    ])
  })
})
