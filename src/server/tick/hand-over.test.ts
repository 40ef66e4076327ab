import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, NewRun } from '../../store/port.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createRoster } from '../sessions/roster.ts'
import { createSession } from '../sessions/session.ts'
import { createHandOver } from './hand-over.ts'
import { createLaneBoard } from './lane-board.ts'

const NODE = 3
const LANE = 5
const run = (id: number) => ({ id, laneId: LANE, gates: [], handOff: null }) as unknown as NewRun

/** One worker with this much room, waiting for an answer. */
function setUp({ free = 2 } = {}) {
  const clock = createVirtualClock()
  const roster = createRoster()
  const board = createLaneBoard()
  const plain = { project: 'p', queue: 'default', labels: [], weight: 1 }
  board.learn([{ id: LANE, ...plain, executor: 'handler:x' }])
  board.claimed(LANE, 1, [], true)
  const offer = { projects: [], queues: ['default'], labels: [], executors: ['handler:x'] }
  const session = createSession({
    ...{ id: 7, project: 'p', name: 'w', registration: 1, ttlMs: 9_000, mono: clock.mono() },
    offer: { ...offer, slots: free },
  })
  let answers = 0
  session.pending = { number: 1, reported: true, settle: () => (answers += 1) }
  session.credit = free
  roster.add(session)
  roster.review(session)
  const told: { givenBack: Lease[]; unknown: number[]; mayGrant: boolean } = {
    ...{ givenBack: [], unknown: [], mayGrant: true },
  }
  const handOver = createHandOver({
    ...{ roster, board, clock, random: () => 0.5 },
    node: () => NODE,
    mayGrant: () => told.mayGrant,
    giveBack: (lease) => told.givenBack.push(lease),
    onGrant: () => {},
    onUnknown: (runs) => told.unknown.push(...runs.map(({ id }) => id)),
  })
  return { roster, board, session, told, handOver, answers: () => answers }
}

test('as many as a worker has room for are promised to it, and are its own when they are durable', () => {
  const { roster, session, handOver, answers } = setUp({ free: 2 })
  const runs = [run(1), run(2), run(3)]
  const promised = handOver(runs)
  assert.deepEqual(
    runs.map(({ handOff }) => handOff?.session),
    [7, 7, undefined],
  )
  assert.deepEqual([session.promised, answers()], [2, 0])
  promised.kept([1, 2], 1_000)
  assert.deepEqual([session.promised, session.credit, answers()], [0, 0, 1])
  assert.equal(roster.leaseOf(2)?.fence, runs[1]?.handOff?.fence)
  assert.deepEqual([...session.unconfirmed.keys()], [1, 2])
})

test('what had to wait at a gate leaves the room it was promised', () => {
  const { roster, session, handOver } = setUp()
  handOver([run(1), run(2)]).kept([2], 1_000)
  assert.deepEqual([session.promised, session.credit], [0, 1])
  assert.equal(roster.leaseOf(1), undefined)
})

test('what did not happen leaves everything as it was; what nobody knows is remembered', () => {
  const { session, told, handOver } = setUp()
  handOver([run(1)]).broken(false)
  assert.deepEqual([session.promised, session.credit, told.unknown], [0, 2, []])
  handOver([run(2)]).broken(true)
  assert.deepEqual(told.unknown, [2])
})

test('whoever left meanwhile gets nothing: it is given back', () => {
  const { roster, session, told, handOver } = setUp()
  const promised = handOver([run(1)])
  roster.remove(session)
  promised.kept([1], 1_000)
  assert.deepEqual(
    told.givenBack.map(({ runId, node }) => [runId, node]),
    [[1, NODE]],
  )
})

test('who may not promise, and who could serve a line, is promised nothing', () => {
  const { board, told, handOver } = setUp()
  told.mayGrant = false
  const first = run(1)
  first.handOff = { session: 1, fence: 1 }
  handOver([first])
  assert.equal(first.handOff, null)
  told.mayGrant = true
  board.entered(LANE, { rank: 0, pos: 9 })
  const second = run(2)
  handOver([second])
  assert.equal(second.handOff, null)
})
