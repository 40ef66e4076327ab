import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lane } from '../../core/queue/lane.ts'
import { deal, type Deal, type Waiter } from './allocate-slots.ts'
import { createLaneBoard, type LaneHint } from './lane-index.ts'
import { createTurns, type Turns } from './fair-turns.ts'

let lanes = 0

function lane(given: Partial<Lane> & { headRank?: number; unsure?: true } = {}): LaneHint {
  const { headRank = 0, unsure, ...spec } = given
  const id = (lanes += 1)
  const board = createLaneBoard()
  const plain = { project: 'p', queue: 'default', labels: [], executor: 'handler:x', weight: 1 }
  board.learn([{ id, ...plain, ...spec }])
  board.entered(id, unsure ? null : { rank: headRank, pos: id })
  const hint = board.get(id) as LaneHint
  hint.headRank = headRank
  return hint
}

function waiter(session: number, credit: number, ...tiers: LaneHint[][]): Waiter {
  return {
    session,
    credit,
    tiers: tiers.flatMap((hints, tier) => {
      const byProject = Map.groupBy(hints, ({ lane: { project } }) => project)
      const projects = Array.from(byProject, ([project, of]) => ({ project, lanes: of }))
      return projects.length === 0 ? [] : [{ tier, projects }]
    }),
  }
}

function dealTo(
  waiters: Waiter[],
  given: { turns?: Turns; cap?: number; mono?: number; onUnsure?: (hint: LaneHint) => void } = {},
): Deal[] {
  const { turns = createTurns(), cap = 500, mono = 0, onUnsure = () => {} } = given
  return [...deal(waiters, { turns, cap, mono, onUnsure }).deals]
}

const seats = (deals: readonly Deal[], hint: LaneHint) =>
  deals.find((entry) => entry.hint === hint)?.sessions ?? []
const rows = (deals: readonly Deal[], hint: LaneHint) => seats(deals, hint).length

describe('queues of a worker', () => {
  test('all its room goes to the only lane with work', () => {
    const busy = lane()
    assert.equal(rows(dealTo([waiter(1, 7, [busy])]), busy), 7)
  })

  test('a later queue gets nothing while an earlier one may have work', () => {
    const [heavy, light] = [lane({ queue: 'heavy' }), lane({ queue: 'light' })]
    const deals = dealTo([waiter(1, 3, [heavy], [light])])
    assert.deepEqual([rows(deals, heavy), rows(deals, light)], [3, 0])
  })

  test('a later queue is served while the earlier one is empty', () => {
    const light = lane({ queue: 'light' })
    assert.equal(rows(dealTo([waiter(1, 3, [], [light])]), light), 3)
  })

  test('who prefers a queue comes before who only helps out there', () => {
    const light = lane({ queue: 'light' })
    const deals = dealTo([waiter(1, 2, [], [light]), waiter(2, 2, [light])])
    assert.deepEqual(seats(deals, light), [2, 2, 1, 1])
  })

  test('no tick asks for more rows than its cap', () => {
    const busy = lane()
    const deals = dealTo([waiter(1, 400, [busy]), waiter(2, 400, [busy])])
    assert.equal(rows(deals, busy), 500)
  })

  test('nobody waiting deals nothing', () => {
    assert.deepEqual(dealTo([]), [])
  })

  test('a later queue gets what an earlier one, asked for all it has, leaves over', () => {
    const [heavy, light] = [lane({ queue: 'heavy' }), lane({ queue: 'light' })]
    heavy.expected = 2
    const deals = dealTo([waiter(1, 10, [heavy], [light])])
    assert.deepEqual([rows(deals, heavy), rows(deals, light)], [3, 7])
  })

  test('what one lane does not need goes to its neighbours before it goes to a later queue', () => {
    const [small, deep, later] = [lane(), lane(), lane({ queue: 'later' })]
    small.expected = 1
    const deals = dealTo([waiter(1, 20, [small, deep], [later])])
    assert.deepEqual([rows(deals, small), rows(deals, deep), rows(deals, later)], [2, 18, 0])
  })

  test('who keeps room, or may not have been looked at, is given nothing else', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const dealing = { turns: createTurns(), cap: 500, mono: 0, onUnsure: () => {} }
    assert.deepEqual(deal([waiter(1, 2, [heavy])], dealing).engaged, new Set([1]))
    assert.equal(deal([waiter(1, 9, [light])], { ...dealing, cap: 9 }).isCapped, true)
    assert.equal(deal([waiter(1, 9, [light])], dealing).isCapped, false)
  })
})

describe('turns', () => {
  /** What each lane was given in so many rounds of one free slot. */
  const served = (hints: LaneHint[], rounds: number, turns = createTurns()) => {
    const got = hints.map(() => 0)
    for (let round = 0; round < rounds; round += 1) {
      const deals = dealTo([waiter(1, 1, hints)], { turns })
      for (const [index, hint] of hints.entries()) got[index]! += rows(deals, hint)
    }
    return got
  }

  test('two projects share a worker evenly, however many lanes one of them has', () => {
    const [a, b, other] = [lane({ project: 'a' }), lane({ project: 'a' }), lane({ project: 'b' })]
    assert.deepEqual(served([a, b, other], 40), [10, 10, 20])
  })

  test('lanes of one project with heads of one rank share evenly: none starves behind another', () => {
    assert.deepEqual(served([lane(), lane(), lane()], 30), [10, 10, 10])
  })

  test('a project that was away does not collect arrears, and does not wait either', () => {
    const [busy, late] = [lane({ project: 'busy' }), lane({ project: 'late' })]
    const turns = createTurns()
    served([busy], 1_000, turns)
    assert.deepEqual(served([busy, late], 1, turns), [0, 1])
    assert.deepEqual(served([busy, late], 9, turns), [5, 4])
  })

  test('what was asked for and not there costs nothing', () => {
    const [a, b] = [lane({ project: 'a' }), lane({ project: 'b' })]
    const turns = createTurns()
    turns.charge(a, 100)
    turns.refund(a, 100)
    assert.deepEqual(served([a, b], 10, turns), [5, 5])
  })

  test('inside a project the lane with the most urgent head is dealt first', () => {
    const [calm, urgent] = [lane({ headRank: 0 }), lane({ headRank: -5 })]
    assert.deepEqual(served([calm, urgent], 3), [0, 3])
  })

  test('much room is shared between projects first, then between their lanes', () => {
    const [a, b, other] = [lane({ project: 'a' }), lane({ project: 'a' }), lane({ project: 'b' })]
    const deals = dealTo([waiter(1, 8, [a, b, other])])
    assert.deepEqual([rows(deals, a), rows(deals, b), rows(deals, other)], [2, 2, 4])
  })
})

describe('weights', () => {
  test('weight divides the room', () => {
    const heavy = lane({ weight: 2 })
    assert.equal(rows(dealTo([waiter(1, 5, [heavy])]), heavy), 2)
  })

  test('a lane heavier than the room left is not dealt', () => {
    assert.deepEqual(dealTo([waiter(1, 3, [lane({ weight: 4 })])]), [])
  })

  test('lighter runs do not starve a heavy one: in its turn a worker keeps its room for it', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createTurns()
    const got = { heavy: 0, light: 0 }
    // Slots come free one by one, and a run that was started never ends.
    for (let free = 1; free <= 40;) {
      const deals = dealTo([waiter(1, free, [light, heavy])], { turns })
      got.heavy += rows(deals, heavy)
      got.light += rows(deals, light)
      free += 1 - rows(deals, light) - 4 * rows(deals, heavy)
      if (got.heavy === 5) break
      assert.ok(got.light < 40, 'only light runs are served')
    }
    assert.ok(got.light >= 12, 'light runs have their turns as well')
  })

  test('one worker keeps its room, the others go on', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createTurns()
    turns.charge(light, 1)
    const deals = dealTo([waiter(1, 2, [light, heavy]), waiter(2, 2, [light, heavy])], { turns })
    assert.deepEqual(seats(deals, light), [2, 2])
  })

  test('a worker that is never free enough keeps its room no longer than another would try', () => {
    const [heavy, light] = [lane({ weight: 4 }), lane()]
    const turns = createTurns()
    turns.charge(light, 100)
    const both = () => [waiter(1, 2, [light, heavy]), waiter(2, 2, [light, heavy])]
    assert.deepEqual(seats(dealTo(both(), { turns }), light), [2, 2])
    assert.deepEqual(seats(dealTo(both().toReversed(), { turns, mono: 20_000 }), light), [1, 1])
  })

  test('a later queue does not take the room that an earlier one waits for', () => {
    const [heavy, light] = [lane({ weight: 4, queue: 'heavy' }), lane({ queue: 'light' })]
    assert.deepEqual(dealTo([1, 2].map((id) => waiter(id, 3, [heavy], [light]))), [])
  })

  test('whether a run that does not fit is there is looked up; until then later queues wait', () => {
    const [heavy, same, light] = [lane({ weight: 4, unsure: true }), lane(), lane()]
    const unsure: LaneHint[] = []
    const onUnsure = (hint: LaneHint) => unsure.push(hint)
    assert.deepEqual(dealTo([waiter(1, 3, [heavy], [light])], { onUnsure }), [])
    assert.deepEqual(unsure, [heavy])
    assert.equal(rows(dealTo([waiter(1, 3, [heavy, same], [light])], { onUnsure }), same), 3)
  })
})
