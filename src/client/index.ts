/** The public API of `punctual/client`. */
export { CallError } from './call-error.ts'
export { connect, type Client, type ConnectOptions } from './connect.ts'
export type { BackfillClient } from './backfills.ts'
export type { JobClient, JobPaging } from './jobs.ts'
export type { OccurrenceQuery, ScheduleClient, ScheduleQuery } from './schedules.ts'
export type { StepApproval, StepClient, StepPaging, StepQuery } from './steps.ts'
export { PunctualError, type ErrorCode } from '../core/errors.ts'
export type {
  CancelAnswer,
  ListQuery,
  RunPage,
  RunView,
  SchedulerClient,
  Submission,
  SubmitAnswer,
} from '../core/wire/protocol.ts'
export type {
  BackfillRequest,
  WireBackfill,
  WireBackfillPlan,
} from '../core/schedule/backfill/views.ts'
export type {
  WireApproval,
  WireItems,
  WireJobStep,
  WirePlannedStep,
  WireStep,
  WireStepItem,
  WireStepRun,
  WireStepStatistics,
} from '../core/workflow/views/step-views.ts'
export type {
  ShownStepState,
  StepCounts,
  StepIdentity,
  WorkflowView,
} from '../core/wire/workflow-view.ts'
export type { WireForecast } from '../core/schedule/forecast/views.ts'
export type { JobDefinition } from '../core/job/job-definition.ts'
export type { RetryOptions } from '../core/run/retry-options.ts'
export type { ScheduleDefinition } from '../core/schedule/definition/schedule-definition.ts'
export type {
  WireAway,
  WireNext,
  WireOccurrence,
  WirePreview,
  WireSchedule,
  WireScheduleWhy,
} from '../core/schedule/definition/schedule-views.ts'
export type { Backoff, RetryPolicy } from '../core/run/retry.ts'
export type { WireJob, WireJobVersion } from '../core/job/job-views.ts'
export type { WirePage, WireWhy } from '../core/wire/views.ts'
export type { StepInput, WorkflowInput } from '../core/workflow/definition.ts'
export type { Cause, FinalState, RunState } from '../core/run/run-state.ts'
