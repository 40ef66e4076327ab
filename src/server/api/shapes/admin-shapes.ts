import type { Execution } from '../../../core/worker/execution.ts'
import { ROLES } from '../../../core/permission.ts'
import { isFinal, STATES } from '../../../core/run/run-state.ts'
import type {
  WireAudit,
  WireNewToken,
  WireQueue,
  WireStorage,
  WireToken,
  WireWorker,
} from '../../../core/wire/views.ts'
import type {
  WireJobVersion,
  WireFollowUp,
  WireWarning,
  WireJob,
} from '../../../core/job/job-views.ts'
import {
  anyShape,
  booleanShape,
  listShape,
  refListShape,
  nullableShape,
  pageShape,
  objectShape,
  refShape,
  runIdShape,
  workerIdShape,
  textShape,
  textListShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const version = {
  version: integerShape('Counted from 1; every change increments it.', { minimum: 1 }),
  definition: refShape('JobDefinition'),
}

const token = {
  id: textShape('Its id, used to revoke it.', { pattern: '^tok_[0-9]+$', examples: ['tok_1'] }),
  name: textShape('Its name.'),
  role: enumShape(ROLES, 'Its permissions.'),
  project: nullableShape(
    textShape('The project it belongs to; null if it is the whole installation’s.'),
  ),
  ending: textShape('Its last characters, for recognition.'),
  created_at: timeShape('When it was created.'),
  created_by: textShape('The name of the token that created it.'),
  expires_at: nullableShape(timeShape('When it expires; null for never.')),
  revoked_at: nullableShape(timeShape('When it was revoked; null if it was not.')),
  last_used_at: nullableShape(timeShape('About when it was last used.')),
}

/** Administrative objects: jobs, queues, workers, tokens, and the audit log. */
export const ADMIN_SHAPES = {
  Storage: objectShape<WireStorage>(
    'Where this node keeps its data, and whether it can be written.',
    {
      inline_bytes: integerShape('Inputs and results larger than this are blobs.'),
      blobs: objectShape<WireStorage['blobs']>('Where blobs are kept.', {
        kind: enumShape(['fs', 'store'], 'As files, or as rows of the database.'),
        place: textShape('For people.'),
        writable: booleanShape('Whether a blob can be stored now.'),
        reason: nullableShape(textShape('Why not.')),
      }),
      store: objectShape<WireStorage['store']>('The database.', {
        kind: enumShape(['sqlite', 'postgres'], 'Which one.'),
        place: textShape('For people: the file, or the host and name of the database.'),
        writable: booleanShape('Whether a write succeeded now, or at most two seconds ago.'),
        reason: nullableShape(textShape('Why not.')),
        free_bytes: nullableShape(
          integerShape('Free space on its disk; null where only the database server knows.'),
        ),
      }),
    },
  ),
  Job: objectShape<WireJob>(
    'The current definition of a job.',
    {
      name: textShape('Unique within its project.'),
      ...version,
      paused: nullableShape(
        objectShape<NonNullable<WireJob['paused']>>('Set while the job is paused.', {
          since: timeShape('Since when.'),
          reason: nullableShape(textShape('The given reason.')),
        }),
      ),
      updated_at: timeShape('When this version became current.'),
      updated_by: textShape('The name of the token that defined it.'),
      schedules: listShape(refShape('Schedule'), 'Its schedules. Not in lists of jobs.'),
      followers: listShape({ type: 'string' }, 'The jobs that run after it. Not in lists of jobs.'),
      follow_ups: listShape(
        refShape('FollowUp'),
        'The latest run ends it follows, newest first. Not in lists of jobs.',
      ),
      warnings: listShape(
        refShape('Warning'),
        'Where a value of an expression may be carried out by something the job runs; the first ' +
          'hundred. Only in the answer to a definition that has any.',
      ),
    },
    ['schedules', 'followers', 'follow_ups', 'warnings'],
  ),
  Warning: objectShape<WireWarning>('An accepted part of a definition that may be a mistake.', {
    code: enumShape(
      ['value_may_run', 'shadows_handler'],
      '`value_may_run`: a value of an expression feeds an interpreter. `shadows_handler`: workers have a handler named like the job, which runs no longer call.',
    ),
    message: textShape('What to check, and why.'),
    hint: textShape('What to do instead.'),
    field: textShape('Where in the definition.'),
  }),
  FollowUp: objectShape<WireFollowUp>('The end of a run that a job follows.', {
    after: runIdShape('The run that ended.'),
    job: textShape('The job of that run.'),
    state: enumShape(STATES.filter(isFinal), 'How it ended.'),
    at: timeShape('When it ended.'),
    run: nullableShape(runIdShape('The run that followed; null if there is none, or not yet.')),
    reason: nullableShape(textShape('Why there was none.')),
  }),
  JobPage: pageShape('Job'),
  JobVersion: objectShape<WireJobVersion>('A former or current definition of a job.', {
    ...version,
    created_at: timeShape('When it became current.'),
    created_by: textShape('The name of the token that defined it.'),
  }),
  JobVersionPage: pageShape('JobVersion'),
  Queue: objectShape<WireQueue>('A queue of runs that wait for workers.', {
    name: textShape('Unique within its project; it exists as soon as a run or a worker names it.'),
    paused: booleanShape('Whether it is paused, by itself or together with all queues.'),
    default_timeout_ms: nullableShape(integerShape('Timeout of runs without one of their own.')),
    max_timeout_ms: nullableShape(integerShape('Upper limit for the timeout of runs.')),
    rate: nullableShape(
      objectShape<NonNullable<WireQueue['rate']>>('How often attempts may start.', {
        limit: integerShape('Maximum number of starts …', { minimum: 1 }),
        per_ms: integerShape('… in each period of this many milliseconds, spread evenly …', {
          minimum: 1,
        }),
        burst: integerShape('… and this many at once after a quiet time.', { minimum: 1 }),
      }),
    ),
    ready: integerShape('Runs that are ready now.'),
    workers: integerShape('Workers that serve it now.'),
  }),
  QueueList: refListShape('Queue'),
  Worker: objectShape<WireWorker>('A worker that is connected now, to any node.', {
    id: workerIdShape('Its public id. It does not authenticate requests.'),
    name: textShape('Its display name.'),
    queues: listShape({ type: 'string' }, 'The queues it serves.'),
    labels: textListShape('Labels that runs may require.'),
    users: listShape({ type: 'string' }, 'Users that runs may name in `run_as`.'),
    executors: listShape({ type: 'string' }, 'What it can execute, such as `shell`.'),
    features: listShape({ type: 'string' }, 'Additional capabilities, such as `secrets`.'),
    projects: listShape({ type: 'string' }, 'Your project, if it serves only some; else empty.'),
    state: enumShape(
      ['active', 'quarantined'],
      '`quarantined`: attempts could not start, so it takes no work for a while.',
    ),
    reason: nullableShape(textShape('The reason, if it is quarantined.')),
    slots: integerShape('Number of slots for concurrent work.'),
    running: integerShape('How many attempts it runs now.'),
    used: integerShape('How many slots they take.'),
    node: textShape('The node it is connected to.'),
    registered_at: timeShape('Since when.'),
    execution: nullableShape(
      objectShape<Execution>(
        'How it isolates its processes; null if it starts none.',
        {
          launcher: textShape('The kind of launcher that starts them.'),
          containment: textShape('`pidns`, `cgroup` or `group`: what a process cannot leave.'),
          limits: listShape({ type: 'string' }, 'The limits it can enforce.'),
          secret_files: textShape(
            '`private`, `memory` or `disk`: where secrets for files are stored.',
          ),
          root: booleanShape(
            'Commands without `run_as` run as root, although that was not explicitly allowed.',
          ),
          why: textShape('Why the isolation is not stronger.'),
        },
        ['secret_files', 'root', 'why'],
      ),
    ),
  }),
  WorkerList: refListShape('Worker'),
  Token: objectShape<WireToken>('A token, without the secret.', token),
  TokenList: refListShape('Token'),
  CreatedToken: objectShape<WireNewToken>('A new token; only this answer shows it.', {
    ...token,
    token: textShape('The token itself. Only its digest is stored.'),
  }),
  AuditEntry: objectShape<WireAudit>('One entry of the audit log.', {
    id: textShape('Ordered by time.', { pattern: '^aud_[0-9]+$' }),
    at: timeShape('When it was created.'),
    project: nullableShape(textShape('The project of the change; null for the installation.')),
    actor: textShape('The name of the token that created it.'),
    action: textShape('The action.', { examples: ['job.put'] }),
    target: textShape('To what.'),
    detail: anyShape('Further details: any JSON, or null.'),
    request_id: nullableShape(textShape('The request that made it.')),
    address: nullableShape(textShape('The address of the caller.')),
  }),
  AuditPage: pageShape('AuditEntry'),
}
