import { QueueChange, QueueRate, AllQueues, NewToken } from '../routes/admin-routes.ts'
import { Backfill } from '../routes/backfill-routes.ts'
import { HookCall } from '../routes/hook-routes.ts'
import { Pause } from '../routes/job-routes.ts'
import { Retry } from '../routes/run-routes.ts'
import { Declared, Preview, Schedule, SchedulePause } from '../../../core/schema/schedule-schema.ts'
import { NewSecret } from '../routes/secret-routes.ts'
import { Batch, JobRun, Submission } from '../../../core/schema/submission-schema.ts'
import { JobDefinition } from '../../../core/schema/job-schema.ts'
import { Parameter, Step, Trigger } from '../../../core/schema/workflow-schema.ts'
import { StepApproval, StepRefusal, StepSkip } from '../routes/step-routes.ts'
import { NewWebhook, Rotation, Webhook } from '../routes/webhook-routes.ts'
import { Exchange, Heartbeat, Hello, Leave, Log } from '../routes/worker-schemas.ts'
import { NewPlainJob, NewSubmission, PlainReport, PlainWorkerName } from '../compat/schemas.ts'
import { ADMIN_SHAPES } from './admin-shapes.ts'
import { PLAIN_SHAPES } from './compat-shapes.ts'
import { BACKFILL_SHAPES } from './backfill-shapes.ts'
import { FORECAST_SHAPES } from './forecast-shapes.ts'
import { PROBLEM_SHAPES } from './problem-shapes.ts'
import { RUN_SHAPES } from './run-shapes.ts'
import { SCHEDULE_SHAPES } from './schedule-shapes.ts'
import { SECRET_SHAPES } from './secret-shapes.ts'
import type { Shape } from './shapes.ts'
import { STEP_SHAPES } from './step-shapes.ts'
import { WEBHOOK_SHAPES } from './webhook-shapes.ts'
import { WORKER_SHAPES } from './worker-shapes.ts'

/** What requests bring: the very schemas that check them. */
export const BODIES = {
  Submission,
  SubmissionBatch: Batch,
  RetryPolicy: Submission.properties.retry,
  JobDefinition,
  WorkflowStep: Step,
  Parameter,
  Trigger,
  JobRun,
  Pause,
  RunRetry: Retry,
  StepApproval,
  StepRefusal,
  StepSkip,
  HookCall,
  ScheduleDefinition: Schedule,
  DeclaredSchedule: Declared,
  ScheduleTrial: Preview,
  SchedulePause,
  BackfillRequest: Backfill,
  QueueChange,
  QueueRate,
  QueuesChange: AllQueues,
  NewToken,
  NewSecret,
  NewWebhook,
  WebhookSettings: Webhook,
  WebhookRotation: Rotation,
  Hello,
  Exchange,
  Heartbeat,
  LogChunks: Log,
  Leave,
  NewPlainJob,
  PlainWorkerName,
  PlainReport,
  NewSubmission,
} as const

/** What answers bring. */
export const ANSWERS = {
  ...RUN_SHAPES,
  ...STEP_SHAPES,
  ...ADMIN_SHAPES,
  ...SCHEDULE_SHAPES,
  ...FORECAST_SHAPES,
  ...BACKFILL_SHAPES,
  ...SECRET_SHAPES,
  ...WEBHOOK_SHAPES,
  ...WORKER_SHAPES,
  ...PLAIN_SHAPES,
  ...PROBLEM_SHAPES,
} as const satisfies Readonly<Record<string, Shape>>

export type BodyName = keyof typeof BODIES
export type SchemaName = keyof typeof ANSWERS
