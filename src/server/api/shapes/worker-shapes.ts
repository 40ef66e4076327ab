import type { HeartbeatAnswer, LogAnswer } from '../../../core/wire/protocol.ts'
import { type GivenSecret, SECRET_FORMS } from '../../../core/work/secret.ts'
import type { WireAssignment, WireExchangeAnswer, WireWelcome } from '../../../core/wire/runs.ts'
import {
  flag,
  list,
  orNull,
  record,
  ref,
  runId,
  sessionId,
  type Shape,
  text,
  whole,
  word,
} from './shapes.ts'

const runs = (description: string): Shape => list(runId('A run.'), description)

/** What workers are told, and what tells whether a node is well. */
export const WORKER_SHAPES = {
  Welcome: record<WireWelcome & { protocol: number }>('The worker is registered.', {
    session: sessionId('Its name for the server from now on.'),
    protocol: whole('The version of the protocol that is spoken.', { minimum: 1 }),
    lease_ttl_ms: whole('Without a heartbeat for this long, what it runs is lost.'),
    heartbeat_ms: whole('How often to send one.'),
    lost: runs('Of the attempts it listed as held, those it no longer owns: stop them.'),
  }),
  Assignment: record<WireAssignment>(
    'An attempt to start.',
    {
      run: runId('The run.'),
      fence: whole('Proves that the attempt is this worker’s; goes with every report.'),
      job: text('Its job.'),
      project: text('Its project.'),
      due_at_ms: whole('The time it was due, in milliseconds since 1970.'),
      attempt: whole('Which attempt of the run it is; 1 unless stated.', { minimum: 1 }),
      weight: whole('How many slots it takes; 1 unless stated.', { minimum: 1 }),
      timeout_ms: whole('None unless stated.'),
      work: ref('Work'),
      task: text('The function to call, if it is not named like the job.'),
      input: text('JSON text; absent if there is none.'),
      secrets: list(
        record<GivenSecret>('A secret, for this attempt alone.', {
          name: text('Its name.'),
          as: word(SECRET_FORMS, 'How the attempt is to be given it.'),
          value: text('The secret itself. It must not be in anything that is printed or reported.'),
        }),
        'Only for workers with the feature `secrets`; absent if there are none.',
      ),
    },
    ['attempt', 'weight', 'timeout_ms', 'work', 'task', 'input', 'secrets'],
  ),
  ExchangeAnswer: record<WireExchangeAnswer>('Verdicts on what was reported, and new attempts.', {
    number: whole('That of the exchange it answers.', { minimum: 1 }),
    verdicts: list(
      word(['accepted', 'stale'], '`stale`: another attempt owns the run.'),
      'One per outcome that was reported, in the same order.',
    ),
    runs: list(ref('Assignment'), 'Attempts to start.'),
  }),
  HeartbeatAnswer: record<HeartbeatAnswer>('What to stop.', {
    lost: runs('No longer this worker’s: stop them and report nothing.'),
    cancels: runs('To be cancelled: stop them and report them as cancelled.'),
  }),
  LogAnswer: record<LogAnswer>('How far the output is stored.', {
    stored: list(
      orNull(whole('How many chunks of the attempt are stored; null if it is not this worker’s.')),
      'One per chunk that was sent, in the same order.',
    ),
  }),
  Live: record<{ live: boolean }>('Whether the process works.', {
    live: flag('If false, only a restart helps.'),
  }),
  Ready: record<{ ready: boolean; reason?: string }>(
    'Whether this node can take requests.',
    { ready: flag('If false, `reason` says why.'), reason: text('Why not.') },
    ['reason'],
  ),
  OpenApi: { type: 'object', description: 'This document.' },
  JobFileSchema: { type: 'object', description: 'A JSON Schema, draft 2020-12.' },
}
