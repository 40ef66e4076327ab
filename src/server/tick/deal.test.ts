import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, deal, type Waiter } from './deal.ts'
import type { LaneHint } from './lane-board.ts'

let lanes = 0

function lane(given: Partial<LaneHint['lane']> & { empty?: boolean; headRank?: number }): LaneHint {
  const { empty = false, headRank = 0, ...spec } = given
  lanes += 1
  return {
    lane: {
      ...{
        id: lanes,
        project: 'p',
        queue: 'default',
        labels: [],
        executor: 'handler:x',
        weight: 1,
      },
      ...spec,
    },
    mayHaveWork: !empty,
    arrivals: 0,
    floor: null,
    headRank,
  }
}

function waiter(session: number, credit: number, ...tiers: LaneHint[][]): Waiter {
  return { session, credit, tiers }
}

const rows = (deals: ReturnType<typeof deal>, hint: LaneHint) =>
  deals.find((entry) => entry.hint === hint)?.sessions.length ?? 0

test('all room of a worker goes to the only lane with work', () => {
  const busy = lane({})
  const idle = lane({ empty: true })
  const deals = deal([waiter(1, 7, [busy, idle])], 500, createTurns())
  assert.deepEqual([rows(deals, busy), rows(deals, idle)], [7, 0])
})

test('a later queue gets nothing while an earlier one may have work', () => {
  const heavy = lane({ queue: 'heavy' })
  const light = lane({ queue: 'light' })
  const deals = deal([waiter(1, 3, [heavy], [light])], 500, createTurns())
  assert.deepEqual([rows(deals, heavy), rows(deals, light)], [3, 0])
})

test('a later queue is served while the earlier one is empty', () => {
  const heavy = lane({ queue: 'heavy', empty: true })
  const light = lane({ queue: 'light' })
  assert.equal(rows(deal([waiter(1, 3, [heavy], [light])], 500, createTurns()), light), 3)
})

test('two projects share a worker evenly, over many turns', () => {
  const a = lane({ project: 'a' })
  const b = lane({ project: 'b' })
  const turns = createTurns()
  const got = { a: 0, b: 0 }
  for (let turn = 0; turn < 50; turn += 1) {
    const deals = deal([waiter(1, 1, [a, b])], 500, turns)
    got.a += rows(deals, a)
    got.b += rows(deals, b)
  }
  assert.deepEqual(got, { a: 25, b: 25 })
})

test('a project that was away does not collect arrears', () => {
  const a = lane({ project: 'a' })
  const late = lane({ project: 'late' })
  const turns = { byProject: new Map([['a', 1_000_000]]), now: 1_000_000 }
  let lateRows = 0
  for (let turn = 0; turn < 10; turn += 1) {
    lateRows += rows(deal([waiter(1, 1, [a, late])], 500, turns), late)
  }
  assert.equal(lateRows, 5)
})

test('inside a project the lane with the most urgent head is dealt first', () => {
  const calm = lane({ headRank: 0 })
  const urgent = lane({ headRank: -5 })
  const deals = deal([waiter(1, 1, [calm, urgent])], 500, createTurns())
  assert.deepEqual([rows(deals, calm), rows(deals, urgent)], [0, 1])
})

test('a lane heavier than the room left is not dealt', () => {
  const heavy = lane({ weight: 4 })
  assert.deepEqual(deal([waiter(1, 3, [heavy])], 500, createTurns()), [])
})

test('weight divides the room', () => {
  const heavy = lane({ weight: 2 })
  assert.equal(rows(deal([waiter(1, 5, [heavy])], 500, createTurns()), heavy), 2)
})

test('no tick asks for more rows than its cap', () => {
  const busy = lane({})
  const waiters = [waiter(1, 400, [busy]), waiter(2, 400, [busy])]
  assert.equal(rows(deal(waiters, 500, createTurns()), busy), 500)
})

test('nobody waiting deals nothing', () => {
  assert.deepEqual(deal([], 500, createTurns()), [])
})
