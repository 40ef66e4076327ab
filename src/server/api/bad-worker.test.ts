import { LIMITS } from '../../core/limits.ts'
import { postRequest, testRefusals } from './testing/bad-input.ts'
import { RUN, SESSION } from './testing/fake-scheduler.ts'

const hello = {
  name: 'w1',
  queues: ['default'],
  labels: {},
  executors: ['handler:a'],
  slots: 4,
  registration: 1,
  held: [],
  forsaken: [],
}
const poll = { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 0 }

const register = (change: object) =>
  postRequest('/v1/workers', JSON.stringify({ ...hello, ...change }))
const exchange = (change: object, session = SESSION) =>
  postRequest(`/v1/workers/${session}/exchange`, JSON.stringify({ ...poll, ...change }))
const done = (change: object) =>
  exchange({ done: [{ run: RUN, fence: 1, outcome: 'succeeded', ...change }] })
const heartbeat = (body: object) =>
  postRequest(`/v1/workers/${SESSION}/heartbeat`, JSON.stringify(body))

testRefusals('invalid_field', [
  ['a worker without queues', register({ queues: [] }), 'queues'],
  ['a worker of 65 queues', register({ queues: Array.from({ length: 65 }, () => 'q') }), 'queues'],
  ['a worker without slots', register({ slots: 0 }), 'slots'],
  ['a worker of 10,001 slots', register({ slots: 10_001 }), 'slots'],
  ['a worker with a path for a name', register({ name: '../w' }), 'name'],
  ['registration 0', register({ registration: 0 }), 'registration'],
  ['a session of its own making', register({ session: 'mine' }), 'session'],
  ['a fence as text', register({ held: [{ run: RUN, fence: '1' }] }), 'held.0.fence'],
  ['a negative fence', register({ held: [{ run: RUN, fence: -1 }] }), 'held.0.fence'],
  ['a fence that is not exact', register({ held: [{ run: RUN, fence: 2 ** 53 }] }), 'held.0.fence'],
])

testRefusals('invalid_field', [
  ['an id as a number', done({ run: 1 }), 'done.0.run'],
  ['an id that is too short', done({ run: 'run_1' }), 'done.0.run'],
  ['an outcome only the server decides', done({ outcome: 'lost' }), 'done.0.outcome'],
  ['a cause only the server knows', done({ outcome: 'failed', cause: 'lost' }), 'done.0.cause'],
  ['a result that is not text', done({ result: { pages: 3 } }), 'done.0.result'],
  ['a result over 8 MiB', done({ result: 'x'.repeat(LIMITS.resultBytes + 1) }), 'done.0.result'],
  ['a message over 8 KiB', done({ message: '€'.repeat(3_000) }), 'done.0.message'],
  ['exchange 0', exchange({ number: 0 }), 'number'],
  ['a poll over 20 s', exchange({ wait_ms: 20_001 }), 'wait_ms'],
  ['fewer than no free slots', exchange({ free: -1 }), 'free'],
  [
    'a heartbeat from nowhere',
    heartbeat({ registration: -1, answered: 0, held: [] }),
    'registration',
  ],
])

/** A counter of the largest possible number would shut out its worker. */
const TOO_LARGE = 2 ** 31
const postTo = (route: string, body: object) =>
  postRequest(`/v1/workers/${SESSION}/${route}`, JSON.stringify(body))
testRefusals('invalid_field', [
  ['registration 2³¹', register({ registration: TOO_LARGE }), 'registration'],
  ['registration 2⁵³ − 1', register({ registration: 2 ** 53 - 1 }), 'registration'],
  ['an exchange of registration 2³¹', exchange({ registration: TOO_LARGE }), 'registration'],
  ['exchange 2³¹', exchange({ number: TOO_LARGE }), 'number'],
  ['exchange 2³¹ answered', exchange({ answered: TOO_LARGE }), 'answered'],
  [
    'a heartbeat of registration 2³¹',
    heartbeat({ registration: TOO_LARGE, answered: 0, held: [] }),
    'registration',
  ],
  [
    'a heartbeat that exchange 2³¹ was answered',
    heartbeat({ registration: 1, answered: TOO_LARGE, held: [] }),
    'answered',
  ],
  [
    'output of registration 2³¹',
    postTo('logs', { registration: TOO_LARGE, chunks: [] }),
    'registration',
  ],
  ['leaving with registration 2³¹', postTo('leave', { registration: TOO_LARGE }), 'registration'],
])

testRefusals('missing_field', [
  ['a held attempt without its fence', register({ held: [{ run: RUN }] }), 'held.0.fence'],
  ['a hello without what was forsaken', register({ forsaken: undefined }), 'forsaken'],
  ['a heartbeat without what is held', heartbeat({ registration: 1, answered: 0 }), 'held'],
  [
    'a leave without a registration',
    postRequest(`/v1/workers/${SESSION}/leave`, '{}'),
    'registration',
  ],
])

testRefusals('unknown_field', [
  ['an ending that sets a state', done({ state: 'succeeded' }), 'done.0.state'],
  ['an exchange for another session', exchange({ session: SESSION }), 'session'],
])

testRefusals('invalid_id', [
  ['a session that is none', exchange({}, 'ses_x'), 'session'],
  ['a run for a session', exchange({}, RUN), 'session'],
])
