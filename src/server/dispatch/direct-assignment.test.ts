import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, NewRun } from '../../store/port.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createSessionIndex } from '../sessions/session-index.ts'
import { INTERNAL } from '../identity/principal.ts'
import { createSession } from '../sessions/session.ts'
import { createDirectAssignment } from './direct-assignment.ts'
import { createScheduledAssignments } from './scheduled-assignments.ts'
import { createLaneIndex } from './lanes/lane-index.ts'

const NODE = 3
const LANE = 5
const run = (id: number) =>
  ({ id, laneId: LANE, gates: [], reservation: null }) as unknown as NewRun

/** One worker with this many free slots, waiting for an answer. */
function setUp({ free = 2, onGrant = (_: Lease) => {} } = {}) {
  const clock = createVirtualClock()
  const sessionIndex = createSessionIndex()
  const laneIndex = createLaneIndex()
  const plain = { project: 'p', queue: 'default', labels: [], weight: 1 }
  laneIndex.learn([{ id: LANE, ...plain, executor: 'handler:x' }])
  laneIndex.claimed(LANE, 1, [], true)
  const offer = { projects: [], queues: ['default'], labels: [], executors: ['handler:x'] }
  const session = createSession({
    id: 7,
    project: 'p',
    name: 'w',
    registration: 1,
    ttlMs: 9_000,
    mono: clock.mono(),
    offer: { ...offer, slots: free },
    owner: INTERNAL,
    secret: null,
    weight: 1,
  })
  let answers = 0
  session.pending = { number: 1, reported: true, settle: () => (answers += 1) }
  session.credit = free
  sessionIndex.add(session)
  sessionIndex.updateWaiting(session)
  const calls: { givenBack: Lease[]; unknown: number[]; mayGrant: boolean; errors: unknown[] } = {
    givenBack: [],
    unknown: [],
    mayGrant: true,
    errors: [],
  }
  const promising = {
    sessionIndex,
    laneIndex,
    clock,
    node: () => NODE,
    mayGrant: () => calls.mayGrant,
  }
  const scheduled = createScheduledAssignments({
    ...promising,
    giveBack: async (leases) => void calls.givenBack.push(...leases),
    onGrant,
    onError: (error) => void calls.errors.push(error),
  })
  const assignDirectly = createDirectAssignment({
    ...promising,
    random: () => 0.5,
    scheduled,
    signals: {
      commitUnknown: ({ submits }) => calls.unknown.push(...submits.map(({ id }) => id)),
    },
  })
  return {
    clock,
    sessionIndex,
    laneIndex,
    session,
    calls,
    assignDirectly,
    scheduled,
    answers: () => answers,
  }
}

test('a worker is promised as many runs as it has free slots, and holds them once they are durable', () => {
  const { sessionIndex, session, assignDirectly, answers } = setUp({ free: 2 })
  const runs = [run(1), run(2), run(3)]
  const assignment = assignDirectly(runs)
  assert.deepEqual(
    runs.map(({ reservation }) => reservation?.session),
    [7, 7, undefined],
  )
  assert.deepEqual([session.promised, answers()], [2, 0])
  void assignment.committed([1, 2], 1_000)
  assert.deepEqual([session.promised, session.credit, answers()], [0, 0, 1])
  assert.equal(sessionIndex.leaseOf(2)?.fence, runs[1]?.reservation?.fence)
  assert.deepEqual([...session.unconfirmed.keys()], [1, 2])
})

test('a run that has to wait at a gate releases its promise', () => {
  const { sessionIndex, session, assignDirectly } = setUp()
  void assignDirectly([run(1), run(2)]).committed([2], 1_000)
  assert.deepEqual([session.promised, session.credit], [0, 1])
  assert.equal(sessionIndex.leaseOf(1), undefined)
})

test('a failed transaction changes nothing; one with unknown outcome is remembered', () => {
  const { session, calls, assignDirectly } = setUp()
  assignDirectly([run(1)]).failed(false)
  assert.deepEqual([session.promised, session.credit, calls.unknown], [0, 2, []])
  assignDirectly([run(2)]).failed(true)
  assert.deepEqual(calls.unknown, [2])
})

test('the lease of a worker that left meanwhile is returned', () => {
  const { sessionIndex, session, calls, assignDirectly } = setUp()
  const assignment = assignDirectly([run(1)])
  sessionIndex.remove(session)
  void assignment.committed([1], 1_000)
  assert.deepEqual(
    calls.givenBack.map(({ runId, node }) => [runId, node]),
    [[1, NODE]],
  )
})

test('nothing is promised without permission or while a worker could serve queued runs', () => {
  const { laneIndex, calls, assignDirectly } = setUp()
  calls.mayGrant = false
  const first = run(1)
  first.reservation = { session: 1, fence: 1 }
  assignDirectly([first])
  assert.equal(first.reservation, null)
  calls.mayGrant = true
  laneIndex.entered(LANE, { rank: 0, pos: 9 })
  const second = run(2)
  assignDirectly([second])
  assert.equal(second.reservation, null)
})

test('runs durable before their time reach workers only then, all of one instant together', async () => {
  const { clock, sessionIndex, session, assignDirectly, answers } = setUp({ free: 3 })
  const later = assignDirectly([run(1)]).committed([1], 2_000, 300)
  const second = assignDirectly([run(2)]).committed([2], 1_000, 210)
  const third = assignDirectly([run(3)]).committed([3], 1_000, 200)
  await clock.advance(199)
  assert.deepEqual([session.promised, session.leases.size, answers()], [3, 0, 0])
  // The comparison with the store, and a cancel request, know them.
  assert.equal(sessionIndex.leaseOf(1)?.session, 7)
  await clock.advance(1)
  await Promise.all([second, third])
  assert.deepEqual([...session.unconfirmed.keys()], [2, 3])
  await clock.advance(100)
  await later
  assert.deepEqual([session.promised, session.credit, session.leases.size], [0, 0, 3])
})

test('a run cancelled before its time does not start', async () => {
  const { clock, sessionIndex, session, calls, assignDirectly } = setUp()
  const committed = assignDirectly([run(1), run(2)]).committed([1, 2], 1_000, 300)
  const lease = sessionIndex.leaseOf(1)
  assert.ok(lease)
  lease.cancelling = true
  await clock.advance(300)
  await committed
  assert.deepEqual([...session.leases.keys()], [2])
  assert.deepEqual([calls.givenBack.map(({ runId }) => runId), session.promised], [[1], 0])
})

test('a worker without free slots at the start time does not get the run', async () => {
  const { clock, session, calls, assignDirectly } = setUp()
  void assignDirectly([run(1), run(2)]).committed([1, 2], 1_000, 300)
  session.credit = 1
  await clock.advance(300)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([calls.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('nothing starts from a queue that was paused before the time', async () => {
  const { clock, laneIndex, session, calls, assignDirectly } = setUp()
  void assignDirectly([run(1)]).committed([1], 1_000, 300)
  laneIndex.applyRules(() => ({ isPaused: true, rate: null }))
  await clock.advance(300)
  assert.equal(session.leases.size, 0)
  assert.deepEqual([calls.givenBack.map(({ runId }) => runId), session.promised], [[1], 0])
})

test('a worker that left before the time, or a node that may not promise then, returns the lease', async () => {
  const { clock, sessionIndex, session, calls, assignDirectly } = setUp()
  void assignDirectly([run(1)]).committed([1], 1_000, 300)
  void assignDirectly([run(2)]).committed([2], 1_000, 400)
  calls.mayGrant = false
  await clock.advance(300)
  assert.deepEqual(
    calls.givenBack.map(({ runId }) => runId),
    [1],
  )
  calls.mayGrant = true
  sessionIndex.remove(session)
  await clock.advance(100)
  assert.deepEqual(
    calls.givenBack.map(({ runId }) => runId),
    [1, 2],
  )
})

test('a stopping node returns leases that no worker knows of', async () => {
  const { clock, session, calls, assignDirectly, scheduled } = setUp()
  void assignDirectly([run(1), run(2)]).committed([1, 2], 1_000, 300)
  await scheduled.giveBack()
  await clock.advance(300)
  assert.deepEqual(
    calls.givenBack.map(({ runId }) => runId),
    [1, 2],
  )
  assert.deepEqual([session.leases.size, clock.sleeping()], [0, 0])
})

test('a much delayed delivery returns the lease, because the run would seem to have started on time', async () => {
  const { clock, session, calls, assignDirectly } = setUp()
  void assignDirectly([run(1)]).committed([1], 1_000, 300)
  clock.freeze(1_200)
  await clock.advance(0)
  assert.deepEqual([[...session.leases.keys()], calls.givenBack], [[1], []])
  void assignDirectly([run(2)]).committed([2], 1_000, 300)
  clock.freeze(12_000)
  await clock.advance(0)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([calls.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('a lease that became durable long after its time is returned as well', () => {
  const { session, calls, assignDirectly } = setUp()
  void assignDirectly([run(1)]).committed([1], 1_000, -900)
  void assignDirectly([run(2)]).committed([2], 1_000, -1_100)
  assert.deepEqual([...session.leases.keys()], [1])
  assert.deepEqual([calls.givenBack.map(({ runId }) => runId), session.promised], [[2], 0])
})

test('an error with one assignment does not affect the others of its instant or later ones', async () => {
  const onGrant = ({ runId }: Lease) => assert.notEqual(runId, 1)
  const { clock, session, calls, assignDirectly, answers } = setUp({ free: 4, onGrant })
  session.pending!.settle = () => assert.fail('gone')
  const first = assignDirectly([run(1), run(2)]).committed([1, 2], 1_000, 300)
  const second = assignDirectly([run(3)]).committed([3], 1_000, 300)
  await clock.advance(300)
  await Promise.all([first, second])
  assert.deepEqual([[...session.leases.keys()], calls.givenBack], [[1, 2, 3], []])
  assert.equal(calls.errors.length, 3)
  void assignDirectly([run(4)]).committed([4], 2_000, 300)
  await clock.advance(300)
  assert.deepEqual([[...session.leases.keys()], session.promised], [[1, 2, 3, 4], 0])
  assert.equal(answers(), 0)
})

test('one slow answer does not delay the rest of its instant; a clock that was set makes another instant', async () => {
  const { clock, session, assignDirectly } = setUp({ free: 3 })
  void assignDirectly([run(1)]).committed([1], 1_000, 200)
  void assignDirectly([run(2)]).committed([2], 1_000, 260)
  void assignDirectly([run(3)]).committed([3], 1_000, 900)
  await clock.advance(199)
  assert.equal(session.leases.size, 0)
  await clock.advance(1)
  assert.deepEqual([...session.leases.keys()], [1, 2])
  await clock.advance(699)
  assert.equal(session.leases.size, 2)
  await clock.advance(1)
  assert.deepEqual([...session.leases.keys()], [1, 2, 3])
})
