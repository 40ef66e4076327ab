import type { Execution } from '../../../core/worker/execution.ts'
import { ROLES } from '../../../core/permission.ts'
import { isFinal, STATES } from '../../../core/run/run-state.ts'
import type {
  WireAudit,
  WireFollowUp,
  WireJob,
  WireJobVersion,
  WireNewToken,
  WireQueue,
  WireStorage,
  WireToken,
  WireWorker,
} from '../../../core/wire/views.ts'
import {
  anything,
  flag,
  list,
  listOf,
  orNull,
  page,
  record,
  ref,
  runId,
  sessionId,
  text,
  texts,
  time,
  whole,
  word,
} from './shapes.ts'

const version = {
  version: whole('Counted from 1; every change is a new one.', { minimum: 1 }),
  definition: ref('JobDefinition'),
}

const token = {
  id: text('To revoke it by.', { pattern: '^tok_[0-9]+$', examples: ['tok_1'] }),
  name: text('What it was called when it was made.'),
  role: word(ROLES, 'What it may do.'),
  project: orNull(text('The project it belongs to; null if it is the whole installation’s.')),
  ending: text('Its last characters, by which people recognise it.'),
  created_at: time('When it was made.'),
  created_by: text('The name of the token it was made with.'),
  expires_at: orNull(time('From then on it is refused; null for never.')),
  revoked_at: orNull(time('Since then it has been refused; null if it was not revoked.')),
  last_used_at: orNull(time('About when it was last used.')),
}

/** What people administer: jobs, queues, workers, tokens, and the record of changes. */
export const ADMIN_SHAPES = {
  Storage: record<WireStorage>('Where this node keeps what is too large for a row.', {
    inline_bytes: whole('Inputs and results larger than this are blobs.'),
    blobs: record<WireStorage['blobs']>('Where blobs are kept.', {
      kind: word(['fs', 'store'], 'As files, or as rows of the database.'),
      place: text('For people.'),
      writable: flag('Whether one could be kept now.'),
      reason: orNull(text('Why not.')),
    }),
  }),
  Job: record<WireJob>(
    'A job as it is defined now.',
    {
      name: text('Unique within its project.'),
      ...version,
      paused: orNull(
        record<NonNullable<WireJob['paused']>>('Set while none of its runs is started.', {
          since: time('Since when.'),
          reason: orNull(text('What was given as the reason.')),
        }),
      ),
      updated_at: time('When this version came into force.'),
      updated_by: text('The name of the token it was defined with.'),
      schedules: list(ref('Schedule'), 'When it runs by itself. Not in lists of jobs.'),
      followers: list({ type: 'string' }, 'The jobs that run after it. Not in lists of jobs.'),
      follow_ups: list(
        ref('FollowUp'),
        'The latest ends it was to run after, newest first. Not in lists of jobs.',
      ),
    },
    ['schedules', 'followers', 'follow_ups'],
  ),
  FollowUp: record<WireFollowUp>('The end of a run after which a job was to run.', {
    after: runId('The run that ended.'),
    job: text('The job that is a run of.'),
    state: word(STATES.filter(isFinal), 'How it ended.'),
    at: time('When it ended.'),
    run: orNull(runId('The run there was after it; null if there is none, or not yet.')),
    reason: orNull(text('Why there was none.')),
  }),
  JobPage: page('Job'),
  JobVersion: record<WireJobVersion>('A job as it was defined at some time.', {
    ...version,
    created_at: time('When it came into force.'),
    created_by: text('The name of the token it was defined with.'),
  }),
  JobVersionPage: page('JobVersion'),
  Queue: record<WireQueue>('A line in which runs wait for workers.', {
    name: text('Unique within its project; it exists as soon as a run or a worker names it.'),
    paused: flag('Nothing is taken from it, because it or all queues are paused.'),
    default_timeout_ms: orNull(whole('For runs that ask for no timeout.')),
    max_timeout_ms: orNull(whole('No run gets more.')),
    rate: orNull(
      record<NonNullable<WireQueue['rate']>>('How often attempts may start.', {
        limit: whole('So many …', { minimum: 1 }),
        per_ms: whole('… in every so many milliseconds, spread evenly …', { minimum: 1 }),
        burst: whole('… and so many at once, when there were fewer before.', { minimum: 1 }),
      }),
    ),
    ready: whole('Runs that stand in line now.'),
    workers: whole('Workers that serve it now.'),
  }),
  QueueList: listOf('Queue'),
  Worker: record<WireWorker>('A worker that is connected now, to any node.', {
    session: sessionId('Its name for the server.'),
    name: text('Its name for people.'),
    queues: list({ type: 'string' }, 'The queues it serves.'),
    labels: texts('What it has that runs may ask for.'),
    users: list({ type: 'string' }, 'Users that runs may ask for with `run_as`.'),
    executors: list({ type: 'string' }, 'What it can execute, such as `shell`.'),
    features: list({ type: 'string' }, 'What else it understands, such as `secrets`.'),
    projects: list({ type: 'string' }, 'Your project, if it serves only some; else empty.'),
    state: word(
      ['active', 'quarantined'],
      '`quarantined`: it could start nothing, and takes nothing for a while.',
    ),
    reason: orNull(text('What went wrong, if it is quarantined.')),
    slots: whole('How much it runs at once.'),
    running: whole('How many attempts it has now.'),
    used: whole('How many slots they take.'),
    node: text('The node it talks to.'),
    registered_at: time('Since when.'),
    execution: orNull(
      record<Execution>(
        'How surely it holds its processes; null if it starts none.',
        {
          launcher: text('Which kind of guardian starts them.'),
          containment: text('`pidns`, `cgroup` or `group`: what a process cannot leave.'),
          limits: list({ type: 'string' }, 'What it can hold a command to.'),
          root: flag('Commands that name no user run as root, and nobody said that this is meant.'),
          why: text('Why it is not better than that.'),
        },
        ['root', 'why'],
      ),
    ),
  }),
  WorkerList: listOf('Worker'),
  Token: record<WireToken>('A token, without the secret.', token),
  TokenList: listOf('Token'),
  CreatedToken: record<WireNewToken>('A new token; this answer alone shows it.', {
    ...token,
    token: text('The secret itself. Only its digest is kept.'),
  }),
  AuditEntry: record<WireAudit>('One change, as it stands in the record.', {
    id: text('Ordered by time.', { pattern: '^aud_[0-9]+$' }),
    at: time('When it was made.'),
    project: orNull(text('The project it was made in; null for the installation.')),
    actor: text('The name of the token it was made with.'),
    action: text('What was done.', { examples: ['job.put'] }),
    target: text('To what.'),
    detail: anything('What else is known: any JSON, or null.'),
    request_id: orNull(text('The request that made it.')),
    address: orNull(text('Where that came from.')),
  }),
  AuditPage: page('AuditEntry'),
}
