import type { HeartbeatAnswer, LogAnswer } from '../../../core/wire/protocol.ts'
import { type GivenSecret, SECRET_FORMS } from '../../../core/secrets/secret.ts'
import type { WireAssignment, WireExchangeAnswer, WireWelcome } from '../../../core/wire/worker.ts'
import {
  booleanShape,
  listShape,
  nullableShape,
  objectShape,
  refShape,
  runIdShape,
  sessionIdShape,
  workerIdShape,
  type Shape,
  textShape,
  integerShape,
  enumShape,
} from './shapes.ts'
import type { ClockNotice } from '../../cluster/store-clock.ts'

const runs = (description: string): Shape => listShape(runIdShape('A run.'), description)

/** Responses to workers, and the health of a node. */
export const WORKER_SHAPES = {
  Welcome: objectShape<WireWelcome>(
    'The worker is registered.',
    {
      session: sessionIdShape('The session id. Only the worker and the server know it.'),
      session_secret: textShape(
        'Authenticates requests of the session, in the header `Punctual-Session-Secret`. Only in ' +
          'the answer to the first registration, from version 2 of the protocol on.',
      ),
      protocol: integerShape('The negotiated version of the protocol.', { minimum: 1 }),
      worker: workerIdShape('Its public id. It does not authenticate requests.'),
      lease_ttl_ms: integerShape('After this time without a heartbeat, its attempts are lost.'),
      heartbeat_ms: integerShape('How often to send one.'),
      lost: runs('Of the attempts it listed as held, those it no longer owns: stop them.'),
    },
    ['session_secret'],
  ),
  Assignment: objectShape<WireAssignment>(
    'An attempt to start.',
    {
      run: runIdShape('The run.'),
      fence: integerShape('Identifies this lease of the run; required in every report.'),
      job: textShape('Its job.'),
      project: textShape('Its project.'),
      due_at_ms: integerShape('The time it was due, in milliseconds since 1970.'),
      attempt: integerShape('Which attempt of the run it is; 1 unless stated.', { minimum: 1 }),
      weight: integerShape('How many slots it takes; 1 unless stated.', { minimum: 1 }),
      timeout_ms: integerShape('None unless stated.'),
      work: refShape('Work'),
      task: textShape('The handler to call, if it does not have the name of the job.'),
      input: textShape('JSON text; absent if there is none.'),
      secrets: listShape(
        objectShape<GivenSecret>('A secret, for this attempt alone.', {
          name: textShape('Its name.'),
          as: enumShape(SECRET_FORMS, 'How the attempt receives it.'),
          value: textShape(
            'The secret itself. It must not be in anything that is printed or reported.',
          ),
        }),
        'Only for workers with the feature `secrets`; absent if there are none.',
      ),
    },
    ['attempt', 'weight', 'timeout_ms', 'work', 'task', 'input', 'secrets'],
  ),
  ExchangeAnswer: objectShape<WireExchangeAnswer>(
    'Verdicts on what was reported, and new attempts.',
    {
      number: integerShape('The number of the exchange it answers.', { minimum: 1 }),
      verdicts: listShape(
        enumShape(['accepted', 'stale'], '`stale`: another attempt owns the run.'),
        'One per outcome that was reported, in the same order.',
      ),
      runs: listShape(refShape('Assignment'), 'Attempts to start.'),
    },
  ),
  HeartbeatAnswer: objectShape<HeartbeatAnswer>('What to stop.', {
    lost: runs('This worker no longer owns them: stop them and report nothing.'),
    cancels: runs('Cancelled: stop them and report them as cancelled.'),
  }),
  LogAnswer: objectShape<LogAnswer>('How far the output is stored.', {
    stored: listShape(
      nullableShape(
        integerShape('How many chunks of the attempt are stored; null if it is not this worker’s.'),
      ),
      'One per chunk that was sent, in the same order.',
    ),
  }),
  Live: objectShape<{ live: boolean }>('Whether the process works.', {
    live: booleanShape('If false, only a restart helps.'),
  }),
  Ready: objectShape<{ ready: boolean; reason?: string; clock?: ClockNotice }>(
    'Whether this node can take requests.',
    {
      ready: booleanShape('If false, `reason` says why.'),
      reason: textShape('Why not.'),
      clock: objectShape<ClockNotice>('What is held because the wall clock is in doubt.', {
        held: booleanShape('Whether schedules and timers are held.'),
        deletion_held: booleanShape('Whether nothing is deleted because of its age.'),
        reason: textShape('The problem with the clock.'),
      }),
    },
    ['reason', 'clock'],
  ),
  OpenApi: { type: 'object', description: 'This document.' },
  JobFileSchema: { type: 'object', description: 'A JSON Schema, draft 2020-12.' },
}
