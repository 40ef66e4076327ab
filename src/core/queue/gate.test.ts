import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { admit, type Candidate, type GateCapacity } from './gate.ts'

const room = (id: number, capacity: number, holders = 0): GateCapacity => ({
  id,
  capacity,
  holders,
})
const run = (runId: number, ...gates: number[]): Candidate => ({ runId, gates })

interface Case {
  readonly why: string
  readonly candidates: readonly Candidate[]
  readonly rooms: readonly GateCapacity[]
  readonly admitted: readonly number[]
  readonly waiting?: readonly [runId: number, gate: number][]
}

const TABLE: readonly Case[] = [
  {
    why: 'a run passes a gate with a free slot',
    candidates: [run(1, 7)],
    rooms: [room(7, 1)],
    admitted: [1],
  },
  {
    why: 'no run passes a full gate',
    candidates: [run(1, 7)],
    rooms: [room(7, 1, 1)],
    admitted: [],
    waiting: [[1, 7]],
  },
  {
    why: 'no run passes an overfull gate',
    candidates: [run(1, 7)],
    rooms: [room(7, 1, 3)],
    admitted: [],
    waiting: [[1, 7]],
  },
  {
    why: 'no run passes a gate without capacity',
    candidates: [run(1, 7)],
    rooms: [room(7, 0)],
    admitted: [],
    waiting: [[1, 7]],
  },
  {
    why: 'no run passes a gate that could not be locked',
    candidates: [run(1, 8)],
    rooms: [room(7, 1)],
    admitted: [],
    waiting: [[1, 8]],
  },
  {
    why: 'the first run passes first',
    candidates: [run(2, 7), run(1, 7)],
    rooms: [room(7, 1)],
    admitted: [2],
    waiting: [[1, 7]],
  },
  {
    why: 'a run takes no gate if it cannot take all of them',
    candidates: [run(1, 7, 8), run(2, 7)],
    rooms: [room(7, 1), room(8, 0)],
    admitted: [2],
    waiting: [[1, 8]],
  },
  {
    why: 'the first full gate is named',
    candidates: [run(1, 7, 8, 9)],
    rooms: [room(7, 1), room(8, 0), room(9, 0)],
    admitted: [],
    waiting: [[1, 8]],
  },
  { why: 'a run without gates passes', candidates: [run(1)], rooms: [], admitted: [1] },
  {
    why: 'one waiting run does not hold up another gate',
    candidates: [run(1, 7), run(2, 8)],
    rooms: [room(7, 0), room(8, 1)],
    admitted: [2],
    waiting: [[1, 7]],
  },
  { why: 'without candidates no run passes', candidates: [], rooms: [room(7, 5)], admitted: [] },
]
for (const { why, candidates, rooms, admitted, waiting = [] } of TABLE) {
  test(why, () => {
    const expected = { admitted, waiting: waiting.map(([runId, gate]) => ({ runId, gate })) }
    assert.deepEqual(admit(candidates, rooms), expected)
  })
}

const GATES = [1, 2, 3, 4]
const rooms = fc.tuple(
  ...GATES.map((id) => fc.record({ id: fc.constant(id), capacity: fc.nat(4), holders: fc.nat(4) })),
)
const candidatesOf = (gates: { minLength: number; maxLength: number }) =>
  fc
    .array(fc.subarray([...GATES, 99], gates), { maxLength: 25 })
    .map((needs) => needs.map((need, index) => run(index + 1, ...need)))
const anyCandidates = candidatesOf({ minLength: 0, maxLength: 4 })

/** The total weight of the admitted runs at each gate. */
function taken(candidates: readonly Candidate[], admitted: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { runId, gates } of candidates) {
    if (!admitted.includes(runId)) continue
    for (const gate of gates) counts.set(gate, (counts.get(gate) ?? 0) + 1)
  }
  return counts
}

test('never exceeds the capacity of a gate', () => {
  fc.assert(
    fc.property(anyCandidates, rooms, (candidates, given) => {
      for (const [gate, count] of taken(candidates, admit(candidates, given).admitted)) {
        const found = given.find(({ id }) => id === gate)
        assert.ok(found && count <= Math.max(0, found.capacity - found.holders))
      }
    }),
  )
})

test('every run is either admitted or waits, in the given order', () => {
  fc.assert(
    fc.property(anyCandidates, rooms, (candidates, given) => {
      const { admitted, waiting } = admit(candidates, given)
      const order = candidates.map(({ runId }) => runId)
      const staying = waiting.map(({ runId }) => runId)
      assert.deepEqual(
        admitted,
        order.filter((runId) => admitted.includes(runId)),
      )
      assert.deepEqual(
        staying,
        order.filter((runId) => !admitted.includes(runId)),
      )
    }),
  )
})

test('a waiting run names one of its gates without free slots', () => {
  fc.assert(
    fc.property(anyCandidates, rooms, (candidates, given) => {
      const { admitted, waiting } = admit(candidates, given)
      const counts = taken(candidates, admitted)
      for (const { runId, gate } of waiting) {
        assert.ok(candidates.find((one) => one.runId === runId)?.gates.includes(gate))
        const { capacity = 0, holders = 0 } = given.find(({ id }) => id === gate) ?? {}
        assert.ok(capacity - holders - (counts.get(gate) ?? 0) <= 0)
      }
    }),
  )
})

test('no run overtakes an earlier run with the same gates', () => {
  fc.assert(
    fc.property(anyCandidates, rooms, (candidates, given) => {
      const { admitted } = admit(candidates, given)
      const closed = new Set<string>()
      for (const { runId, gates } of candidates) {
        if (admitted.includes(runId)) assert.ok(!closed.has(gates.join()))
        else closed.add(gates.join())
      }
    }),
  )
})

test('with one gate each, admits as many runs as there are free slots', () => {
  fc.assert(
    fc.property(candidatesOf({ minLength: 1, maxLength: 1 }), rooms, (candidates, given) => {
      const counts = taken(candidates, admit(candidates, given).admitted)
      for (const { id, capacity, holders } of given) {
        const asking = candidates.filter(({ gates }) => gates.includes(id)).length
        const fits = Math.min(asking, Math.max(0, capacity - holders))
        assert.equal(counts.get(id) ?? 0, fits)
      }
    }),
  )
})
