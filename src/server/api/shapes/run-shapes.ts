import {
  type ContainerWork,
  type Mount,
  NETWORKS,
  PULLS,
} from '../../../core/work/container-work.ts'
import type { FlowWork, RetryNames } from '../../../core/work/workflow-work.ts'
import type { HttpWork } from '../../../core/work/http-work.ts'
import type { OutputEnd, ProcessEnd } from '../../../core/run/output.ts'
import type { CancelAnswer, RunTrigger, SubmitAnswer } from '../../../core/wire/protocol.ts'
import { METHODS } from '../../../core/work/web-request.ts'
import { CAUSES, isFinal, STATES } from '../../../core/run/run-state.ts'
import type {
  WireAttempt,
  WireLog,
  WireLogHit,
  WireLogLine,
  WireLogSearch,
  WireWhy,
} from '../../../core/wire/views.ts'
import { WHY_CODES } from '../../../core/wire/views.ts'
import { SECRET_FORMS, type SecretUse } from '../../../core/work/secret.ts'
import type { WireOutcome, WireProgress, WireRun } from '../../../core/wire/runs.ts'
import type { ArgvWork, ScriptWork, ShellWork } from '../../../core/work/work.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
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
  text,
  texts,
  time,
  whole,
  word,
} from './shapes.ts'

const FINAL_STATES = STATES.filter(isFinal)

const started = {
  env: texts('Variables of its environment, besides those of the worker.'),
  stdin: text('What it reads from its standard input.'),
  kill_grace_ms: whole('How long it has between the polite signal and the other one.'),
  limits: record<WorkLimits>(
    'How much of its machine an attempt may take.',
    {
      memory_bytes: whole('Memory.'),
      cpu: { type: 'number', description: 'Cores, also parts of one.' },
      pids: whole('Processes and threads at once.'),
      files: whole('Files one process may have open.'),
      output_bytes: whole('How much of what it prints is kept.'),
      tmp_bytes: whole('What its temporary directory may hold.'),
    },
    ['memory_bytes', 'cpu', 'pids', 'files', 'output_bytes', 'tmp_bytes'],
  ),
}
const surroundings = {
  ...started,
  cwd: text('The directory it starts in.'),
  umask: text('Octal digits.'),
  run_as: text('The user it runs as.'),
}
const MAY_BE_ABSENT = [
  ...(['cwd', 'env', 'stdin', 'umask', 'kill_grace_ms', 'limits', 'run_as'] as const),
] as const

const attempts = {
  cause: orNull(word(CAUSES, 'Why the attempt ended as it did; null unless it went wrong.')),
  message: orNull(text('What there is to say about that, for people.')),
  worker: orNull(text('The name of the worker that has it, or had it.')),
}

/** Runs, their attempts and what they printed. */
export const RUN_SHAPES = {
  Run: record<WireRun>(
    'One execution of a job, from its submission to its end.',
    {
      id: runId('For ever the same, and ordered by the time of submission.'),
      job: text('The job it is a run of; `adhoc` if it brought its own command and no name.'),
      project: text('The project it belongs to.'),
      queue: text('The queue it waits in.'),
      version: orNull(
        whole('The version of its job that it keeps, whatever is changed later; null without one.'),
      ),
      state: word(
        STATES,
        'Waiting: `blocked` by a concurrency key, `scheduled` for later, `ready`. Then `running`. ' +
          'Ended: `succeeded`, `failed`, `cancelled`, `skipped`.',
      ),
      cancelling: flag('Its worker was told to stop it; the end is still to come.'),
      priority: { type: 'integer', description: 'Of two that could start, the higher one does.' },
      attempt: whole('The number of the latest attempt, from 1; 0 before the first.'),
      lost: whole('How many attempts ended because their worker vanished.'),
      ...attempts,
      process: orNull(ref('ProcessEnd')),
      created_at: time('When it was submitted.'),
      due_at: orNull(time('Not before this time; null if it was for at once.')),
      started_at: orNull(time('When the latest attempt began.')),
      finished_at: orNull(time('When the run ended.')),
      retry_of: orNull(runId('The finished run that this one repeats.')),
      tags: texts('What the submitter wrote on it.'),
      work: orNull(ref('Work')),
      secrets: list(ref('SecretUse'), 'What it is given when it starts, by name.'),
      input: anything('What was handed to it: any JSON.'),
      result: anything('What it answered: any JSON; null before it succeeded.'),
      input_bytes: orNull(
        whole(
          'How large the input is, if it is too large for a list, which then shows null for it.',
        ),
      ),
      result_bytes: orNull(whole('The same of the result.')),
      progress: orNull(ref('Progress')),
      workflow: orNull(ref('Workflow')),
      step: orNull(ref('StepPlace')),
      trigger: orNull(ref('RunTrigger')),
    },
    ['workflow', 'step', 'trigger'],
  ),
  RunPage: page('Run'),
  RunTrigger: record<RunTrigger>('The end of another run, which made this one run.', {
    kind: word(['after'], 'Its job says in `triggers` that it runs after another.'),
    run: runId('The run that ended.'),
    job: text('The job that is a run of.'),
    state: word(FINAL_STATES, 'How it ended.'),
  }),
  SecretUse: record<SecretUse>('A secret that a run is given.', {
    name: text('Its name.'),
    as: word(SECRET_FORMS, '`env`: in the variable of this name. `file`: in a file.'),
  }),
  Progress: record<WireProgress>(
    'How far a run says it is; of one that has ended, its last word.',
    {
      fraction: { type: 'number', minimum: 0, maximum: 1, description: 'From 0 to 1.' },
      message: text('What it says besides; may be empty.'),
      at: time('When it said so.'),
    },
  ),
  Work: {
    description: 'What to execute, if it is the run’s own and not its job’s.',
    oneOf: [
      record<ShellWork>(
        'A line for a shell.',
        {
          executor: text('Which kind of work this is.', { const: 'shell' }),
          run: text('The line.'),
          shell: text('The shell that reads it; `/bin/sh` if absent.'),
          ...surroundings,
        },
        ['shell', ...MAY_BE_ABSENT],
      ),
      record<ArgvWork>(
        'A program and its arguments, without a shell.',
        {
          executor: text('Which kind of work this is.', { const: 'argv' }),
          argv: list({ type: 'string' }, 'The program, then its arguments.'),
          ...surroundings,
        },
        MAY_BE_ABSENT,
      ),
      record<ScriptWork>(
        'A script, and the program that reads it.',
        {
          executor: text('Which kind of work this is.', { const: 'script' }),
          script: text('The script itself.'),
          interpreter: list({ type: 'string' }, 'The program that reads it, then its arguments.'),
          ...surroundings,
        },
        MAY_BE_ABSENT,
      ),
      record<HttpWork>(
        'A request to send.',
        {
          executor: text('Which kind of work this is.', { const: 'http' }),
          url: text('Where to.'),
          method: word(METHODS, 'Its method.'),
          headers: texts('Headers besides those that Punctual sends.'),
          body: text('Its body; the input of the run if absent.'),
          expect: text('Statuses that are a success; `200-299` if absent.'),
          max_response_bytes: whole('How much of the answer is read.'),
          redirects: whole('How many redirects are followed.'),
        },
        ['headers', 'body', 'expect', 'max_response_bytes', 'redirects'],
      ),
      record<FlowWork>(
        'The steps of its job.',
        {
          executor: text('Which kind of work this is.', { const: 'workflow' }),
          retry: record<RetryNames>(
            'What is done again of the run it repeats; everything if absent.',
            {
              failed: flag('What failed.'),
              from: list({ type: 'string' }, 'These steps.'),
              skip: list({ type: 'string' }, 'These steps count as done.'),
            },
            ['failed', 'from', 'skip'],
          ),
          scheduled_at: text(
            'The time it is for, on the clocks of its schedule; its own if absent.',
          ),
        },
        ['retry', 'scheduled_at'],
      ),
      record<ContainerWork>(
        'A container to run.',
        {
          executor: text('Which kind of work this is.', { const: 'container' }),
          image: text('The image.'),
          command: list({ type: 'string' }, 'Arguments of its program, or the program.'),
          entrypoint: list({ type: 'string' }, 'Instead of the program of the image.'),
          mounts: list(
            record<Mount>(
              'A path of the worker’s machine, inside.',
              {
                source: text('On the worker’s machine.'),
                target: text('Inside.'),
                readonly: flag('Whether it cannot be written.'),
              },
              ['readonly'],
            ),
            'What of the worker’s machine it sees.',
          ),
          workdir: text('The directory it starts in, inside.'),
          user: text('The user it runs as, inside.'),
          network: word(NETWORKS, 'Whether it has one.'),
          pull: word(PULLS, 'When the image is fetched.'),
          ...started,
        },
        [
          ...(['command', 'entrypoint', 'mounts', 'workdir', 'user', 'network', 'pull'] as const),
          ...(['env', 'stdin', 'kill_grace_ms', 'limits'] as const),
        ],
      ),
    ],
  },
  ProcessEnd: record<Omit<ProcessEnd, 'progress'>>(
    'How the process of the latest attempt ended.',
    {
      exit_code: whole('If it exited by itself.', { maximum: 255 }),
      signal: text('If a signal ended it.', { examples: ['SIGKILL'] }),
      containment: text('How surely its descendants were ended with it.'),
      output: record<Omit<OutputEnd, 'last'>>(
        'How much it printed; what it printed is its log.',
        {
          chunks: whole('In how many parts it was stored.'),
          bytes: whole('What it wrote, in bytes.'),
          dropped: whole('How many of them were left out because they were too many.'),
        },
        ['dropped'],
      ),
    },
    ['exit_code', 'signal', 'containment', 'output'],
  ),
  Submitted: record<SubmitAnswer>('The run that a submission led to.', {
    id: runId('The run.'),
    created: flag('False if a key led to a run that was there already.'),
  }),
  SubmittedBatch: record<{ runs: readonly WireOutcome[] }>('One outcome per run, in order.', {
    runs: list(
      {
        anyOf: [
          ref('Submitted'),
          record<{ error: unknown }>('This run was refused; the others were stored.', {
            error: ref('Problem'),
          }),
        ],
      },
      'One per run of the request, in the same order.',
    ),
  }),
  Cancelled: record<CancelAnswer>('What became of it.', {
    id: runId('The run.'),
    state: word(
      ['cancelled', 'cancelling'],
      '`cancelled` if it had not begun; `cancelling` if its worker was told to stop it.',
    ),
  }),
  Attempt: record<WireAttempt>('One try at a run.', {
    attempt: whole('Counted from 1.', { minimum: 1 }),
    state: word(
      ['running', 'succeeded', 'failed', 'cancelled', 'skipped', 'retried'],
      '`retried`: it went wrong, and another one followed.',
    ),
    ...attempts,
    exit_code: orNull(whole('If it was a process that exited by itself.')),
    signal: orNull(text('If it was a process that a signal ended.')),
    started_at: orNull(time('When it began.')),
    finished_at: orNull(time('When it ended; null while it runs.')),
  }),
  AttemptList: listOf('Attempt'),
  Why: record<WireWhy>('Why a run is where it is.', {
    run: runId('The run.'),
    state: word(STATES, 'Where it is.'),
    code: word(WHY_CODES, 'Why, for programs.'),
    sentence: text('Why, in one sentence for people.'),
    details: list({ type: 'string' }, 'What else is known about it.'),
    fixes: list({ type: 'string' }, 'Commands that would change it.'),
    progress: orNull(ref('Progress')),
  }),
  LogLine: record<WireLogLine>(
    'One line, or the beginning of one that is still being written.',
    {
      line: whole('Counted from 0.'),
      at: time('When it was printed.'),
      stream: word(['stdout', 'stderr', 'punctual'], '`punctual` are remarks of the worker.'),
      text: text('Without its newline. Bytes that are no UTF-8 appear as U+DC80 to U+DCFF.'),
      mark: ref('Mark'),
      cut: flag('It is longer than 65,536 characters, and the rest is not shown here.'),
    },
    ['mark', 'cut'],
  ),
  Mark: record<{ kind: string; text?: string; fraction?: number }>(
    'What the line says about its process: it is a marker.',
    {
      kind: word(['progress', 'group', 'endgroup', 'error', 'warning'], 'Which marker.'),
      text: text('The words in it.'),
      fraction: { type: 'number', minimum: 0, maximum: 1, description: 'Of `progress`: how far.' },
    },
    ['text', 'fraction'],
  ),
  Log: record<WireLog>('Lines of one attempt.', {
    run: runId('The run.'),
    attempt: whole('The attempt that printed them.', { minimum: 1 }),
    lines: list(ref('LogLine'), 'In the order in which they were printed.'),
    next_line: whole('Go on reading with this `from_line`.'),
    complete: flag('No more lines will come.'),
    dropped: whole('Bytes that were left out because they were too many.'),
  }),
  LogHit: record<WireLogHit>('A line in which something was found, and where first.', {
    line: whole('Counted from 0.'),
    at: time('When it was printed.'),
    stream: word(['stdout', 'stderr', 'punctual'], '`punctual` are remarks of the worker.'),
    column: whole('Where it begins, in characters from 0, colours not counted.'),
    length: whole('How many characters it has.'),
    text: text('Up to 500 characters of the line around it, without colours.'),
    text_column: whole('The column at which `text` begins.'),
  }),
  LogSearch: record<WireLogSearch>('Lines of one attempt in which something was found.', {
    run: runId('The run.'),
    attempt: whole('The attempt that printed them.', { minimum: 1 }),
    hits: list(ref('LogHit'), 'In order. May be empty while there is more to search.'),
    next_line: whole('Go on searching with this `from_line`.'),
    complete: flag('Everything was searched, and nothing more will come.'),
  }),
}
