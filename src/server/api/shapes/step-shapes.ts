import { STEP_REASONS } from '../../../core/workflow/step-facts.ts'
import {
  type FlowView,
  STEP_KINDS_SHOWN,
  STEP_STATES,
  type StepCounts,
  type StepPlace,
  type WireApproval,
  type WireItems,
  type WireJobStep,
  type WirePlannedStep,
  type WireStep,
  type WireStepItem,
  type WireStepRun,
  type WireStepStatistics,
} from '../../../core/workflow/step-views.ts'
import type { WireHookRun } from '../../../core/webhook/hook.ts'
import { STATES } from '../../../core/run/run-state.ts'
import { WHENS } from '../../../core/workflow/definition.ts'
import {
  anything,
  flag,
  list,
  orNull,
  page,
  record,
  ref,
  runId,
  type Shape,
  text,
  time,
  whole,
  word,
} from './shapes.ts'

const planned: Readonly<Record<keyof WirePlannedStep, Shape>> = {
  name: text('Its name within the workflow.'),
  kind: word(
    STEP_KINDS_SHOWN,
    '`work`: a run of its own. `job`: a run of another job. `approval`: somebody has to agree.',
  ),
  needs: list({ type: 'string' }, 'The steps it waits for; the first hundred of them.'),
  needs_count: whole('How many steps it waits for.'),
  when: word(WHENS, 'What has to have become of the steps it needs.'),
  finally: flag('It runs when everything else has ended.'),
  each: flag('It runs once for every item of a list.'),
}

const state = word(
  STEP_STATES,
  '`untouched`: the workflow has not come to it. `running`: it has a run, wherever that is. ' +
    '`waiting`: somebody has to agree. The others are how it ended.',
)

const place = {
  state,
  reason: orNull(word(STEP_REASONS, 'Why it was skipped, or failed without a run.')),
  sentence: orNull(text('Why it is where it is, if there is more to say than its state does.')),
  run: orNull(ref('StepRun')),
  reused: flag('It was not done again: its run is that of the workflow this one repeats.'),
  started_at: orNull(time('When it was begun.')),
  finished_at: orNull(time('When it ended.')),
}

const counts = Object.fromEntries(
  STEP_STATES.map((name) => [name, whole(`How many are ${name}.`)]),
) as Record<(typeof STEP_STATES)[number], Shape>

/** Workflows and their steps. */
export const STEP_SHAPES = {
  Workflow: record<FlowView>('How far a run that is a workflow has come.', {
    wave: orNull(whole('Counted by job, from 1; a retry keeps that of the run it repeats.')),
    steps: ref('StepCounts'),
  }),
  StepPlace: record<StepPlace>('The workflow that a run is a step of.', {
    run: runId('The run of the workflow.'),
    name: text('The step.'),
    item: orNull(whole('Its place in a fan-out, from 0.')),
  }),
  StepCounts: record<StepCounts>('How many are in which state.', {
    total: whole('How many there are.'),
    ...counts,
  }),
  StepRun: record<WireStepRun>('The run of a step.', {
    id: runId('The run.'),
    state: word(STATES, 'Where it is.'),
    attempt: whole('The number of its latest attempt.'),
    message: orNull(text('What there is to say about its end, for people.')),
  }),
  Step: record<WireStep>('One step of one run.', {
    ...planned,
    ...place,
    critical: orNull(
      flag(
        'The workflow could not have ended sooner unless this step had; null beyond 1,000 steps.',
      ),
    ),
    items: orNull(
      record<WireItems>('Of a fan-out, its items in short.', {
        counts: ref('StepCounts'),
        failed: list(ref('StepItem'), 'The first that failed, ten at most.'),
      }),
    ),
    output: anything('What it gave to those that need it; null if that is too long for a list.'),
    output_bytes: orNull(whole('How long the output is, if it was left out.')),
    approval: orNull(
      record<WireApproval>('What is asked, while nobody has answered.', {
        message: orNull(text('For whoever is asked.')),
        by: list({ type: 'string' }, 'Names of tokens that may answer; empty for any operator.'),
        expires_at: orNull(time('When it counts as refused.')),
        input: { type: 'object', description: 'What has to be said by whoever agrees.' },
      }),
    ),
  }),
  StepPage: page('Step'),
  StepItem: record<WireStepItem>('One item of a fan-out.', {
    item: whole('Its place in the list, from 0.'),
    ...place,
  }),
  StepItemPage: page('StepItem'),
  JobStep: record<WireJobStep>('A step as the definition of its job has it.', {
    ...planned,
    statistics: record<WireStepStatistics>('How its latest runs went.', {
      runs: whole('So many that have ended were looked at.'),
      succeeded: whole('How many of them succeeded.'),
      failed: whole('How many failed.'),
      p50_ms: orNull(whole('Half of those that succeeded took no longer.')),
      p95_ms: orNull(whole('Nineteen of twenty took no longer.')),
    }),
  }),
  JobStepPage: page('JobStep'),
  HookRuns: record<{ runs: readonly WireHookRun[] }>('What a call led to.', {
    runs: list(
      record<WireHookRun>('A run of a job that waits for this call.', {
        job: text('The job.'),
        id: runId('The run.'),
        created: flag('False if the same call came before.'),
      }),
      'One for each job that is not paused.',
    ),
  }),
}
