import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lane } from '../../core/queue/lane.ts'
import { allocateSlots, type LaneAllocation, type WaitingSession } from './allocate-slots.ts'
import type { LaneHint } from './lanes/lane-hint.ts'
import { createLaneIndex } from './lanes/lane-index.ts'
import { createFairTurns, type FairTurns } from './fair-turns.ts'

let lanes = 0

function lane(given: Partial<Lane> & { headRank?: number; unsure?: true } = {}): LaneHint {
  const { headRank = 0, unsure, ...spec } = given
  const id = (lanes += 1)
  const laneIndex = createLaneIndex()
  const plain = { project: 'p', queue: 'default', labels: [], executor: 'handler:x', weight: 1 }
  laneIndex.learn([{ id, ...plain, ...spec }])
  laneIndex.entered(id, unsure ? null : { rank: headRank, pos: id })
  const hint = laneIndex.get(id) as LaneHint
  hint.headRank = headRank
  return hint
}

function waiter(session: number, credit: number, ...tiers: LaneHint[][]): WaitingSession {
  return {
    session,
    freeSlots: credit,
    tiers: tiers.flatMap((hints, tier) => {
      const byProject = Map.groupBy(hints, ({ lane: { project } }) => project)
      const projects = Array.from(byProject, ([project, of]) => ({ project, lanes: of }))
      return projects.length === 0 ? [] : [{ tier, projects }]
    }),
  }
}

function allocateTo(
  waiters: WaitingSession[],
  given: {
    turns?: FairTurns
    cap?: number
    mono?: number
    onUnsure?: (hint: LaneHint) => void
  } = {},
): LaneAllocation[] {
  const { turns = createFairTurns(), cap = 500, mono = 0, onUnsure = () => {} } = given
  return [...allocateSlots(waiters, { turns, cap, mono, onUnsure }).allocations]
}

const sessionsOf = (allocations: readonly LaneAllocation[], hint: LaneHint) =>
  allocations.find((entry) => entry.hint === hint)?.sessions ?? []
const rows = (allocations: readonly LaneAllocation[], hint: LaneHint) =>
  sessionsOf(allocations, hint).length

describe('queues of a worker', () => {
  test('all free slots go to the only lane with work', () => {
    const busy = lane()
    assert.equal(rows(allocateTo([waiter(1, 7, [busy])]), busy), 7)
  })

  test('a later queue gets nothing while an earlier one may have work', () => {
    const [heavy, light] = [lane({ queue: 'heavy' }), lane({ queue: 'light' })]
    const allocations = allocateTo([waiter(1, 3, [heavy], [light])])
    assert.deepEqual([rows(allocations, heavy), rows(allocations, light)], [3, 0])
  })

  test('a later queue is served while the earlier one is empty', () => {
    const light = lane({ queue: 'light' })
    assert.equal(rows(allocateTo([waiter(1, 3, [], [light])]), light), 3)
  })

  test('a session that prefers a queue comes before one that lists it later', () => {
    const light = lane({ queue: 'light' })
    const allocations = allocateTo([waiter(1, 2, [], [light]), waiter(2, 2, [light])])
    assert.deepEqual(sessionsOf(allocations, light), [2, 2, 1, 1])
  })

  test('no tick asks for more rows than its cap', () => {
    const busy = lane()
    const allocations = allocateTo([waiter(1, 400, [busy]), waiter(2, 400, [busy])])
    assert.equal(rows(allocations, busy), 500)
  })

  test('without waiting sessions nothing is allocated', () => {
    assert.deepEqual(allocateTo([]), [])
  })

  test('a later queue gets the slots left by an earlier one that was asked for all it has', () => {
    const [heavy, light] = [lane({ queue: 'heavy' }), lane({ queue: 'light' })]
    heavy.expected = 2
    const allocations = allocateTo([waiter(1, 10, [heavy], [light])])
    assert.deepEqual([rows(allocations, heavy), rows(allocations, light)], [3, 7])
  })

  test('slots one lane does not need go to its neighbours before a later queue', () => {
    const [small, deep, later] = [lane(), lane(), lane({ queue: 'later' })]
    small.expected = 1
    const allocations = allocateTo([waiter(1, 20, [small, deep], [later])])
    assert.deepEqual(
      [rows(allocations, small), rows(allocations, deep), rows(allocations, later)],
      [2, 18, 0],
    )
  })

  test('a session with reserved slots, or one that may not have been considered, gets nothing else', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const allocation = { turns: createFairTurns(), cap: 500, mono: 0, onUnsure: () => {} }
    assert.deepEqual(allocateSlots([waiter(1, 2, [heavy])], allocation).engaged, new Set([1]))
    assert.equal(allocateSlots([waiter(1, 9, [light])], { ...allocation, cap: 9 }).isCapped, true)
    assert.equal(allocateSlots([waiter(1, 9, [light])], allocation).isCapped, false)
  })
})

describe('turns', () => {
  /** What each lane got in this many rounds of one free slot. */
  const served = (hints: LaneHint[], rounds: number, turns = createFairTurns()) => {
    const got = hints.map(() => 0)
    for (let round = 0; round < rounds; round += 1) {
      const allocations = allocateTo([waiter(1, 1, hints)], { turns })
      for (const [index, hint] of hints.entries()) got[index]! += rows(allocations, hint)
    }
    return got
  }

  test('two projects share a worker evenly, however many lanes one of them has', () => {
    const [a, b, other] = [lane({ project: 'a' }), lane({ project: 'a' }), lane({ project: 'b' })]
    assert.deepEqual(served([a, b, other], 40), [10, 10, 20])
  })

  test('lanes of one project with heads of one rank share evenly: none starves', () => {
    assert.deepEqual(served([lane(), lane(), lane()], 30), [10, 10, 10])
  })

  test('a returning project gets no arrears and does not wait either', () => {
    const [busy, late] = [lane({ project: 'busy' }), lane({ project: 'late' })]
    const turns = createFairTurns()
    served([busy], 1_000, turns)
    assert.deepEqual(served([busy, late], 1, turns), [0, 1])
    assert.deepEqual(served([busy, late], 9, turns), [5, 4])
  })

  test('rows that were requested but not there cost nothing', () => {
    const [a, b] = [lane({ project: 'a' }), lane({ project: 'b' })]
    const turns = createFairTurns()
    turns.charge(a, 100)
    turns.refund(a, 100)
    assert.deepEqual(served([a, b], 10, turns), [5, 5])
  })

  test('within a project the lane with the most urgent head is served first', () => {
    const [calm, urgent] = [lane({ headRank: 0 }), lane({ headRank: -5 })]
    assert.deepEqual(served([calm, urgent], 3), [0, 3])
  })

  test('many free slots are shared between projects first, then between their lanes', () => {
    const [a, b, other] = [lane({ project: 'a' }), lane({ project: 'a' }), lane({ project: 'b' })]
    const allocations = allocateTo([waiter(1, 8, [a, b, other])])
    assert.deepEqual(
      [rows(allocations, a), rows(allocations, b), rows(allocations, other)],
      [2, 2, 4],
    )
  })
})

describe('weights', () => {
  test('the weight divides the free slots', () => {
    const heavy = lane({ weight: 2 })
    assert.equal(rows(allocateTo([waiter(1, 5, [heavy])]), heavy), 2)
  })

  test('a lane heavier than the free slots gets nothing', () => {
    assert.deepEqual(allocateTo([waiter(1, 3, [lane({ weight: 4 })])]), [])
  })

  test('lighter runs do not starve a heavy one: in its turn a worker reserves its slots for it', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createFairTurns()
    const got = { heavy: 0, light: 0 }
    // Slots become free one by one, and a started run never ends.
    for (let free = 1; free <= 40;) {
      const allocations = allocateTo([waiter(1, free, [light, heavy])], { turns })
      got.heavy += rows(allocations, heavy)
      got.light += rows(allocations, light)
      free += 1 - rows(allocations, light) - 4 * rows(allocations, heavy)
      if (got.heavy === 5) break
      assert.ok(got.light < 40, 'only light runs are served')
    }
    assert.ok(got.light >= 12, 'light runs have their turns as well')
  })

  test('one worker reserves its slots, the others go on', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createFairTurns()
    turns.charge(light, 1)
    const allocations = allocateTo([waiter(1, 2, [light, heavy]), waiter(2, 2, [light, heavy])], {
      turns,
    })
    assert.deepEqual(sessionsOf(allocations, light), [2, 2])
  })

  test('a reservation that is never fulfilled ends when another worker may try', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createFairTurns()
    turns.charge(light, 100)
    const both = () => [waiter(1, 2, [light, heavy]), waiter(2, 2, [light, heavy])]
    assert.deepEqual(sessionsOf(allocateTo(both(), { turns }), light), [2, 2])
    assert.deepEqual(
      sessionsOf(allocateTo(both().toReversed(), { turns, mono: 20_000 }), light),
      [1, 1],
    )
  })

  test('a later queue does not take the slots that an earlier one waits for', () => {
    const [heavy, light] = [lane({ weight: 4, queue: 'heavy' }), lane({ queue: 'light' })]
    assert.deepEqual(allocateTo([1, 2].map((id) => waiter(id, 3, [heavy], [light]))), [])
  })

  test('the lane is read to find out whether a heavy run waits; until then later queues wait', () => {
    const [heavy, same, light] = [lane({ weight: 4, unsure: true }), lane(), lane()]
    const unsure: LaneHint[] = []
    const onUnsure = (hint: LaneHint) => unsure.push(hint)
    assert.deepEqual(allocateTo([waiter(1, 3, [heavy], [light])], { onUnsure }), [])
    assert.deepEqual(unsure, [heavy])
    assert.equal(rows(allocateTo([waiter(1, 3, [heavy, same], [light])], { onUnsure }), same), 3)
  })
})
