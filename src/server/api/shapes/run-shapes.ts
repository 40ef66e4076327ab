import {
  type ContainerWork,
  type Mount,
  NETWORKS,
  PULLS,
} from '../../../core/work/container-work.ts'
import type { WorkflowWork, NamedRetryScope } from '../../../core/work/workflow-work.ts'
import type { HttpWork } from '../../../core/work/http-work.ts'
import { EXIT_CODES, type OutputEnd, type ProcessEnd } from '../../../core/run/output.ts'
import type { CancelAnswer, RunTrigger, SubmitAnswer } from '../../../core/wire/protocol.ts'
import { METHODS } from '../../../core/work/web-request.ts'
import { CAUSES, isFinal, STATES } from '../../../core/run/run-state.ts'
import {
  type WireAttempt,
  type WireLog,
  type WireLogHit,
  type WireLogLine,
  type WireLogSearch,
  type WireWhy,
  WHY_CODES,
} from '../../../core/wire/views.ts'
import { SECRET_FORMS, type SecretUse } from '../../../core/secrets/secret.ts'
import type { WireOutcome, WireProgress, WireRun } from '../../../core/wire/runs.ts'
import type { ArgvWork, ScriptWork, ShellWork } from '../../../core/work/work.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
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
  textShape,
  textListShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const FINAL_STATES = STATES.filter(isFinal)

const started = {
  env: textListShape('Variables of its environment, besides those of the worker.'),
  stdin: textShape('What it reads from its standard input.'),
  kill_grace_ms: integerShape('Time between the stop signal and the kill signal.'),
  limits: objectShape<WorkLimits>(
    'Resource limits of an attempt.',
    {
      memory_bytes: integerShape('Memory.'),
      cpu: { type: 'number', description: 'Cores, also parts of one.' },
      pids: integerShape('Processes and threads at once.'),
      files: integerShape('Files one process may have open.'),
      output_bytes: integerShape('How much of its output is stored.'),
      tmp_bytes: integerShape('Maximum size of its temporary directory.'),
    },
    ['memory_bytes', 'cpu', 'pids', 'files', 'output_bytes', 'tmp_bytes'],
  ),
}
const contextFields = {
  ...started,
  cwd: textShape('The directory it starts in.'),
  umask: textShape('Octal digits.'),
  run_as: textShape('The user it runs as.'),
}
const MAY_BE_ABSENT = ['cwd', 'env', 'stdin', 'umask', 'kill_grace_ms', 'limits', 'run_as'] as const

const attempts = {
  cause: nullableShape(enumShape(CAUSES, 'Why the attempt failed; null if it did not.')),
  message: nullableShape(textShape('Details of the end, for people.')),
  worker: nullableShape(textShape('The name of the worker that has it, or had it.')),
}

/** Runs, their attempts and their output. */
export const RUN_SHAPES = {
  Run: objectShape<WireRun>(
    'One execution of a job, from its submission to its end.',
    {
      id: runIdShape('Permanent, and ordered by the time of submission.'),
      job: textShape('The job it is a run of; `adhoc` if it brought its own command and no name.'),
      project: textShape('The project it belongs to.'),
      queue: textShape('The queue it waits in.'),
      version: nullableShape(
        integerShape(
          'The version of its job that it keeps, whatever is changed later; null without one.',
        ),
      ),
      state: enumShape(
        STATES,
        'Waiting: `blocked` by a concurrency key, `scheduled` for later, `ready`. Then `running`. ' +
          'Ended: `succeeded`, `failed`, `cancelled`, `skipped`.',
      ),
      cancelling: booleanShape('Its worker was asked to stop it; it has not ended yet.'),
      priority: { type: 'integer', description: 'Runs with a higher priority start first.' },
      attempt: integerShape('The number of the latest attempt, from 1; 0 before the first.'),
      lost: integerShape('How many attempts ended because their worker vanished.'),
      ...attempts,
      process: nullableShape(refShape('ProcessEnd')),
      created_at: timeShape('When it was submitted.'),
      created_by: textShape(
        'Who or what started it: the name of a token, `root` for that of the installation, or `schedule etl/nightly`, ' +
          '`backfill bkf_…`, `workflow run_…` for a step, `after run_…`, `a hook`.',
      ),
      due_at: nullableShape(timeShape('Earliest start; null for an immediate run.')),
      started_at: nullableShape(timeShape('When the latest attempt began.')),
      finished_at: nullableShape(timeShape('When the run ended.')),
      retry_of: nullableShape(runIdShape('The finished run that this one repeats.')),
      tags: textListShape('Tags set by the submitter.'),
      work: nullableShape(refShape('Work')),
      secrets: listShape(refShape('SecretUse'), 'The secrets it gets when it starts, by name.'),
      input: anyShape('Its input: any JSON.'),
      result: anyShape('Its result: any JSON; null before it succeeded.'),
      input_bytes: nullableShape(
        integerShape(
          'How large the input is, if it is too large for a list, which then shows null for it.',
        ),
      ),
      result_bytes: nullableShape(integerShape('The same of the result.')),
      progress: nullableShape(refShape('Progress')),
      workflow: nullableShape(refShape('Workflow')),
      step: nullableShape(refShape('StepPlace')),
      trigger: nullableShape(refShape('RunTrigger')),
    },
    ['workflow', 'step', 'trigger'],
  ),
  RunPage: pageShape('Run'),
  RunTrigger: objectShape<RunTrigger>('The end of another run that triggered this one.', {
    kind: enumShape(['after'], 'Its job says in `triggers` that it runs after another.'),
    run: runIdShape('The run that ended.'),
    job: textShape('The job of that run.'),
    state: enumShape(FINAL_STATES, 'How it ended.'),
  }),
  SecretUse: objectShape<SecretUse>('A secret that a run gets.', {
    name: textShape('Its name.'),
    as: enumShape(SECRET_FORMS, '`env`: in the variable of this name. `file`: in a file.'),
  }),
  Progress: objectShape<WireProgress>('The latest reported progress of a run.', {
    fraction: { type: 'number', minimum: 0, maximum: 1, description: 'From 0 to 1.' },
    message: textShape('A message; may be empty.'),
    at: timeShape('When it was reported.'),
  }),
  Work: {
    description: 'What to execute, if it is the run’s own and not its job’s.',
    oneOf: [
      objectShape<ShellWork>(
        'A shell command line.',
        {
          executor: textShape('The kind of work.', { const: 'shell' }),
          run: textShape('The line.'),
          shell: textShape('The shell that reads it; `/bin/sh` if absent.'),
          ...contextFields,
        },
        ['shell', ...MAY_BE_ABSENT],
      ),
      objectShape<ArgvWork>(
        'A program and its arguments, without a shell.',
        {
          executor: textShape('The kind of work.', { const: 'argv' }),
          argv: listShape({ type: 'string' }, 'The program, then its arguments.'),
          ...contextFields,
        },
        MAY_BE_ABSENT,
      ),
      objectShape<ScriptWork>(
        'A script, and the program that reads it.',
        {
          executor: textShape('The kind of work.', { const: 'script' }),
          script: textShape('The script itself.'),
          interpreter: listShape(
            { type: 'string' },
            'The program that reads it, then its arguments.',
          ),
          ...contextFields,
        },
        MAY_BE_ABSENT,
      ),
      objectShape<HttpWork>(
        'A request to send.',
        {
          executor: textShape('The kind of work.', { const: 'http' }),
          url: textShape('Where to.'),
          method: enumShape(METHODS, 'Its method.'),
          headers: textListShape('Headers besides those that Punctual sends.'),
          body: textShape('Its body; the input of the run if absent.'),
          expect: textShape('Response statuses that count as success; `200-299` if absent.'),
          max_response_bytes: integerShape('How much of the answer is read.'),
          redirects: integerShape('How many redirects are followed.'),
        },
        ['headers', 'body', 'expect', 'max_response_bytes', 'redirects'],
      ),
      objectShape<WorkflowWork>(
        'The steps of its job.',
        {
          executor: textShape('The kind of work.', { const: 'workflow' }),
          retry: objectShape<NamedRetryScope>(
            'Which steps of the repeated run are done again; all if absent.',
            {
              failed: booleanShape('What failed.'),
              from: listShape({ type: 'string' }, 'These steps.'),
              skip: listShape({ type: 'string' }, 'These steps count as done.'),
            },
            ['failed', 'from', 'skip'],
          ),
          scheduled_at: textShape(
            'The time it is for, in the zone of its schedule; its own due time if absent.',
          ),
        },
        ['retry', 'scheduled_at'],
      ),
      objectShape<ContainerWork>(
        'A container to run.',
        {
          executor: textShape('The kind of work.', { const: 'container' }),
          image: textShape('The image.'),
          command: listShape({ type: 'string' }, 'Arguments of its program, or the program.'),
          entrypoint: listShape({ type: 'string' }, 'Instead of the program of the image.'),
          mounts: listShape(
            objectShape<Mount>(
              'A path of the worker’s machine, mounted in the container.',
              {
                source: textShape('On the worker’s machine.'),
                target: textShape('Inside.'),
                readonly: booleanShape('Whether it cannot be written.'),
              },
              ['readonly'],
            ),
            'Mounted paths of the worker’s machine.',
          ),
          workdir: textShape('The working directory in the container.'),
          user: textShape('The user in the container.'),
          network: enumShape(NETWORKS, 'Whether it has one.'),
          pull: enumShape(PULLS, 'When the image is fetched.'),
          ...started,
        },
        [
          'command',
          'entrypoint',
          'mounts',
          'workdir',
          'user',
          'network',
          'pull',
          'env',
          'stdin',
          'kill_grace_ms',
          'limits',
        ],
      ),
    ],
  },
  ProcessEnd: objectShape<Omit<ProcessEnd, 'progress'>>(
    'How the process of the latest attempt ended.',
    {
      exit_code: integerShape(
        'If it exited by itself; 0 to 255, except for compatibility workers.',
        EXIT_CODES,
      ),
      signal: textShape('If a signal ended it.', { examples: ['SIGKILL'] }),
      containment: textShape('How reliably its child processes were ended with it.'),
      output: objectShape<Omit<OutputEnd, 'last'>>(
        'The amount of output; the output itself is in the log.',
        {
          chunks: integerShape('In how many parts it was stored.'),
          bytes: integerShape('What it wrote, in bytes.'),
          dropped: integerShape('How many bytes were dropped because of the output limit.'),
        },
        ['dropped'],
      ),
    },
    ['exit_code', 'signal', 'containment', 'output'],
  ),
  Submitted: objectShape<SubmitAnswer>('The run of a submission.', {
    id: runIdShape('The run.'),
    created: booleanShape('False if a key matched an existing run.'),
  }),
  SubmittedBatch: objectShape<{ runs: readonly WireOutcome[] }>('One outcome per run, in order.', {
    runs: listShape(
      {
        anyOf: [
          refShape('Submitted'),
          objectShape<{ error: unknown }>('This run was refused; the others were stored.', {
            error: refShape('Problem'),
          }),
        ],
      },
      'One per run of the request, in the same order.',
    ),
  }),
  Cancelled: objectShape<CancelAnswer>('What became of it.', {
    id: runIdShape('The run.'),
    state: enumShape(
      ['cancelled', 'cancelling'],
      '`cancelled` if it had not begun; `cancelling` if its worker was asked to stop it.',
    ),
  }),
  Attempt: objectShape<WireAttempt>('One try at a run.', {
    attempt: integerShape('Counted from 1.', { minimum: 1 }),
    state: enumShape(
      ['waiting', 'running', 'succeeded', 'failed', 'cancelled', 'skipped', 'retried'],
      '`waiting`: it has not begun. `retried`: it failed, and another attempt followed.',
    ),
    ...attempts,
    exit_code: nullableShape(
      integerShape('Exit code of a process that exited by itself.', EXIT_CODES),
    ),
    signal: nullableShape(textShape('The signal that ended the process.')),
    started_at: nullableShape(timeShape('When it began.')),
    finished_at: nullableShape(timeShape('When it ended; null while it runs.')),
  }),
  AttemptList: refListShape('Attempt'),
  Why: objectShape<WireWhy>('Why a run is in its state.', {
    run: runIdShape('The run.'),
    state: enumShape(STATES, 'Where it is.'),
    code: enumShape(WHY_CODES, 'Why, for programs.'),
    sentence: textShape('Why, in one sentence for people.'),
    details: listShape({ type: 'string' }, 'Further details.'),
    fixes: listShape({ type: 'string' }, 'Commands that would change it.'),
    progress: nullableShape(refShape('Progress')),
  }),
  LogLine: objectShape<WireLogLine>(
    'One line, or the beginning of one that is still being written.',
    {
      line: integerShape('Counted from 0.'),
      at: timeShape('When it was printed.'),
      stream: enumShape(['stdout', 'stderr', 'punctual'], '`punctual` are messages of the worker.'),
      text: textShape('Without its newline. Bytes that are no UTF-8 appear as U+DC80 to U+DCFF.'),
      mark: refShape('Mark'),
      cut: booleanShape('It is longer than 65,536 characters, and the rest is not shown here.'),
    },
    ['mark', 'cut'],
  ),
  Mark: objectShape<{ kind: string; text?: string; fraction?: number }>(
    'Set if the line is a marker, by which a process reports its state.',
    {
      kind: enumShape(['progress', 'group', 'endgroup', 'error', 'warning'], 'Which marker.'),
      text: textShape('The text of the marker.'),
      fraction: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'For `progress`: the completed fraction.',
      },
    },
    ['text', 'fraction'],
  ),
  Log: objectShape<WireLog>('Lines of one attempt.', {
    run: runIdShape('The run.'),
    attempt: integerShape('The attempt that printed them.', { minimum: 1 }),
    lines: listShape(refShape('LogLine'), 'In the order in which they were printed.'),
    next_line: integerShape('Go on reading with this `from_line`.'),
    complete: booleanShape('No more lines will come.'),
    dropped: integerShape('Bytes that were dropped because of the output limit.'),
  }),
  LogHit: objectShape<WireLogHit>('A matching line, with the position of its first match.', {
    line: integerShape('Counted from 0.'),
    at: timeShape('When it was printed.'),
    stream: enumShape(['stdout', 'stderr', 'punctual'], '`punctual` are messages of the worker.'),
    column: integerShape('Where it begins, in characters from 0, colours not counted.'),
    length: integerShape('How many characters it has.'),
    text: textShape('Up to 500 characters of the line around it, without colours.'),
    text_column: integerShape('The column at which `text` begins.'),
  }),
  LogSearch: objectShape<WireLogSearch>('Matching lines of one attempt.', {
    run: runIdShape('The run.'),
    attempt: integerShape('The attempt that printed them.', { minimum: 1 }),
    hits: listShape(refShape('LogHit'), 'In order. May be empty while there is more to search.'),
    next_line: integerShape('Go on searching with this `from_line`.'),
    complete: booleanShape('Everything was searched, and nothing more will come.'),
  }),
}
