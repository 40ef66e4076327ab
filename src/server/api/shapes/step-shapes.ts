import { STEP_REASONS } from '../../../core/workflow/progress/step-facts.ts'
import {
  SHOWN_STEP_KINDS,
  type WireApproval,
  type WireItems,
  type WireJobStep,
  type WirePlannedStep,
  type WireStep,
  type WireStepItem,
  type WireStepRun,
  type WireStepStatistics,
} from '../../../core/workflow/views/step-views.ts'
import {
  type StepIdentity,
  type WorkflowView,
  type StepCounts,
  SHOWN_STEP_STATES,
} from '../../../core/wire/workflow-view.ts'
import type { WireHookRun } from '../../../core/webhook/hook.ts'
import { STATES } from '../../../core/run/run-state.ts'
import { STEP_RULES } from '../../../core/workflow/definition.ts'
import {
  anyShape,
  booleanShape,
  listShape,
  nullableShape,
  pageShape,
  objectShape,
  refShape,
  runIdShape,
  type Shape,
  textShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const planned: Readonly<Record<keyof WirePlannedStep, Shape>> = {
  name: textShape('Its name within the workflow.'),
  kind: enumShape(
    SHOWN_STEP_KINDS,
    '`work`: a run of its own. `job`: a run of another job. `approval`: waits for an approval.',
  ),
  needs: listShape({ type: 'string' }, 'The steps it waits for; the first hundred of them.'),
  needs_count: integerShape('How many steps it waits for.'),
  when: enumShape(STEP_RULES, 'Which outcomes of the needed steps it requires.'),
  finally: booleanShape('It runs when everything else has ended.'),
  each: booleanShape('It runs once for every item of a list.'),
}

const state = enumShape(
  SHOWN_STEP_STATES,
  '`untouched`: it has not begun yet. `running`: it has a run, in any unfinished state. ' +
    '`waiting`: for an approval. The other states are ends.',
)

const place = {
  state,
  reason: nullableShape(enumShape(STEP_REASONS, 'Why it was skipped, or failed without a run.')),
  sentence: nullableShape(textShape('Details of its state, if there are any.')),
  run: nullableShape(refShape('StepRun')),
  reused: booleanShape('It was not done again: its run is that of the workflow this one repeats.'),
  started_at: nullableShape(timeShape('When it was begun.')),
  finished_at: nullableShape(timeShape('When it ended.')),
}

const counts = Object.fromEntries(
  SHOWN_STEP_STATES.map((name) => [name, integerShape(`How many are ${name}.`)]),
) as Record<(typeof SHOWN_STEP_STATES)[number], Shape>

/** Workflows and their steps. */
export const STEP_SHAPES = {
  Workflow: objectShape<WorkflowView>('The progress of a workflow run.', {
    wave: nullableShape(
      integerShape('Counted by job, from 1; a retry keeps that of the run it repeats.'),
    ),
    steps: refShape('StepCounts'),
  }),
  StepPlace: objectShape<StepIdentity>('The workflow that a run is a step of.', {
    run: runIdShape('The run of the workflow.'),
    name: textShape('The step.'),
    item: nullableShape(integerShape('Its place in a fan-out, from 0.')),
  }),
  StepCounts: objectShape<StepCounts>('Number of steps by state.', {
    total: integerShape('How many there are.'),
    ...counts,
  }),
  StepRun: objectShape<WireStepRun>('The run of a step.', {
    id: runIdShape('The run.'),
    state: enumShape(STATES, 'Where it is.'),
    attempt: integerShape('The number of its latest attempt.'),
    message: nullableShape(textShape('Details of its end, for people.')),
  }),
  Step: objectShape<WireStep>('One step of one run.', {
    ...planned,
    ...place,
    critical: nullableShape(
      booleanShape(
        'The workflow could not have ended sooner unless this step had; null beyond 1,000 steps.',
      ),
    ),
    items: nullableShape(
      objectShape<WireItems>('Summary of the items of a fan-out.', {
        counts: refShape('StepCounts'),
        failed: listShape(refShape('StepItem'), 'The first failed items, at most ten.'),
      }),
    ),
    output: anyShape('Its output for the steps that need it; null if it is too long for a list.'),
    output_bytes: nullableShape(integerShape('How long the output is, if it was left out.')),
    approval: nullableShape(
      objectShape<WireApproval>('The open approval; null after the answer.', {
        message: nullableShape(textShape('A message for the approver.')),
        by: listShape(
          { type: 'string' },
          'Names of tokens that may answer; empty for any operator.',
        ),
        expires_at: nullableShape(timeShape('When it counts as refused.')),
        input: { type: 'object', description: 'The schema of the input that an approval needs.' },
      }),
    ),
  }),
  StepPage: pageShape('Step'),
  StepItem: objectShape<WireStepItem>('One item of a fan-out.', {
    item: integerShape('Its place in the list, from 0.'),
    ...place,
  }),
  StepItemPage: pageShape('StepItem'),
  JobStep: objectShape<WireJobStep>('A step as the definition of its job has it.', {
    ...planned,
    statistics: objectShape<WireStepStatistics>('How its latest runs went.', {
      runs: integerShape('Number of ended runs that were examined.'),
      succeeded: integerShape('How many of them succeeded.'),
      failed: integerShape('How many failed.'),
      p50_ms: nullableShape(integerShape('Median duration of the successful runs.')),
      p95_ms: nullableShape(integerShape('95th percentile of their durations.')),
    }),
  }),
  JobStepPage: pageShape('JobStep'),
  HookRuns: objectShape<{ runs: readonly WireHookRun[] }>('The runs of a call.', {
    runs: listShape(
      objectShape<WireHookRun>('A run of a job triggered by this call.', {
        job: textShape('The job.'),
        id: runIdShape('The run.'),
        created: booleanShape('False if the same call came before.'),
      }),
      'One for each job that is not paused.',
    ),
  }),
}
