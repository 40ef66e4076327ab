import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, NewRun } from '../../store/port.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createRoster } from '../sessions/session-index.ts'
import { createSession } from '../sessions/session.ts'
import { createHandOver } from './direct-assignment.ts'
import { createHeldGrants } from './scheduled-assignments.ts'
import { createLaneBoard } from './lane-index.ts'

const NODE = 3
const LANE = 5
const run = (id: number) => ({ id, laneId: LANE, gates: [], handOff: null }) as unknown as NewRun

/** One worker with this much room, waiting for an answer. */
function setUp({ free = 2, onGrant = (_: Lease) => {} } = {}) {
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
  const told: { givenBack: Lease[]; unknown: number[]; mayGrant: boolean; errors: unknown[] } = {
    ...{ givenBack: [], unknown: [], mayGrant: true, errors: [] },
  }
  const promising = { roster, board, clock, node: () => NODE, mayGrant: () => told.mayGrant }
  const held = createHeldGrants({
    ...promising,
    giveBack: async (leases) => void told.givenBack.push(...leases),
    onGrant,
    onError: (error) => void told.errors.push(error),
  })
  const handOver = createHandOver({
    ...{ ...promising, random: () => 0.5, held },
    onUnknown: (runs) => told.unknown.push(...runs.map(({ id }) => id)),
  })
  return { clock, roster, board, session, told, handOver, held, answers: () => answers }
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
  void promised.kept([1, 2], 1_000)
  assert.deepEqual([session.promised, session.credit, answers()], [0, 0, 1])
  assert.equal(roster.leaseOf(2)?.fence, runs[1]?.handOff?.fence)
  assert.deepEqual([...session.unconfirmed.keys()], [1, 2])
})

test('what had to wait at a gate leaves the room it was promised', () => {
  const { roster, session, handOver } = setUp()
  void handOver([run(1), run(2)]).kept([2], 1_000)
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
  void promised.kept([1], 1_000)
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

test('what is durable before its time reaches nobody until it has come, and all of one instant together', async () => {
  const { clock, roster, session, handOver, answers } = setUp({ free: 3 })
  const later = handOver([run(1)]).kept([1], 2_000, 300)
  const second = handOver([run(2)]).kept([2], 1_000, 210)
  const third = handOver([run(3)]).kept([3], 1_000, 200)
  await clock.advance(199)
  assert.deepEqual([session.promised, session.leases.size, answers()], [3, 0, 0])
  // Who compares with the store, or cancels, knows them.
  assert.equal(roster.leaseOf(1)?.session, 7)
  await clock.advance(1)
  await Promise.all([second, third])
  assert.deepEqual([...session.unconfirmed.keys()], [2, 3])
  await clock.advance(100)
  await later
  assert.deepEqual([session.promised, session.credit, session.leases.size], [0, 0, 3])
})

test('one that is cancelled before its time is not started', async () => {
  const { clock, roster, session, told, handOver } = setUp()
  const kept = handOver([run(1), run(2)]).kept([1, 2], 1_000, 300)
  const lease = roster.leaseOf(1)
  assert.ok(lease)
  lease.cancelling = true
  await clock.advance(300)
  await kept
  assert.deepEqual([...session.leases.keys()], [2])
  assert.deepEqual([told.givenBack.map(({ runId }) => runId), session.promised], [[1], 0])
})

test('a worker that has no room any more when the time has come is not given it', async () => {
  const { clock, session, told, handOver } = setUp()
  void handOver([run(1), run(2)]).kept([1, 2], 1_000, 300)
  session.credit = 1
  await clock.advance(300)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([told.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('nothing starts from a queue that was paused before the time', async () => {
  const { clock, board, session, told, handOver } = setUp()
  void handOver([run(1)]).kept([1], 1_000, 300)
  board.follow(() => ({ isResting: true, rate: null }))
  await clock.advance(300)
  assert.equal(session.leases.size, 0)
  assert.deepEqual([told.givenBack.map(({ runId }) => runId), session.promised], [[1], 0])
})

test('whoever left before the time, or a node that may promise nothing then, gives it back', async () => {
  const { clock, roster, session, told, handOver } = setUp()
  void handOver([run(1)]).kept([1], 1_000, 300)
  void handOver([run(2)]).kept([2], 1_000, 400)
  told.mayGrant = false
  await clock.advance(300)
  assert.deepEqual(
    told.givenBack.map(({ runId }) => runId),
    [1],
  )
  told.mayGrant = true
  roster.remove(session)
  await clock.advance(100)
  assert.deepEqual(
    told.givenBack.map(({ runId }) => runId),
    [1, 2],
  )
})

test('a node that stops gives back what it has told nobody of', async () => {
  const { clock, session, told, handOver, held } = setUp()
  void handOver([run(1), run(2)]).kept([1, 2], 1_000, 300)
  await held.giveBack()
  await clock.advance(300)
  assert.deepEqual(
    told.givenBack.map(({ runId }) => runId),
    [1, 2],
  )
  assert.deepEqual([session.leases.size, clock.sleeping()], [0, 0])
})

test('who comes much too late gives back what it kept: it would start as if it were in time', async () => {
  const { clock, session, told, handOver } = setUp()
  void handOver([run(1)]).kept([1], 1_000, 300)
  clock.freeze(1_200)
  await clock.advance(0)
  assert.deepEqual([[...session.leases.keys()], told.givenBack], [[1], []])
  void handOver([run(2)]).kept([2], 1_000, 300)
  clock.freeze(12_000)
  await clock.advance(0)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([told.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('what became durable long after its time is given back as well', () => {
  const { session, told, handOver } = setUp()
  void handOver([run(1)]).kept([1], 1_000, -900)
  void handOver([run(2)]).kept([2], 1_000, -1_100)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([told.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('what goes wrong with one does not keep the others, nor those after them', async () => {
  const onGrant = ({ runId }: Lease) => assert.notEqual(runId, 1)
  const { clock, session, told, handOver, answers } = setUp({ free: 4, onGrant })
  session.pending!.settle = () => assert.fail('gone')
  const first = handOver([run(1), run(2)]).kept([1, 2], 1_000, 300)
  const second = handOver([run(3)]).kept([3], 1_000, 300)
  await clock.advance(300)
  await Promise.all([first, second])
  assert.deepEqual([[...session.leases.keys()], told.givenBack], [[1, 2, 3], []])
  assert.equal(told.errors.length, 3)
  void handOver([run(4)]).kept([4], 2_000, 300)
  await clock.advance(300)
  assert.deepEqual([[...session.leases.keys()], session.promised], [[1, 2, 3, 4], 0])
  assert.equal(answers(), 0)
})

test('one slow answer does not hold up the rest of its instant; a clock that was set is another', async () => {
  const { clock, session, handOver } = setUp({ free: 3 })
  void handOver([run(1)]).kept([1], 1_000, 200)
  void handOver([run(2)]).kept([2], 1_000, 260)
  void handOver([run(3)]).kept([3], 1_000, 900)
  await clock.advance(199)
  assert.equal(session.leases.size, 0)
  await clock.advance(1)
  assert.deepEqual([...session.leases.keys()], [1, 2])
  await clock.advance(699)
  assert.equal(session.leases.size, 2)
  await clock.advance(1)
  assert.deepEqual([...session.leases.keys()], [1, 2, 3])
})
