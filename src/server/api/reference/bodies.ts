import {
  QueueChangeSchema,
  QueueRateSchema,
  AllQueuesSchema,
  NewTokenSchema,
} from '../routes/admin-routes.ts'
import { BackfillSchema } from '../routes/backfill-routes.ts'
import { HookCallSchema } from '../routes/hook-routes.ts'
import { PauseSchema } from '../routes/job-routes.ts'
import { RetrySchema } from '../routes/run-routes.ts'
import {
  DeclaredScheduleSchema,
  PreviewSchema,
  ScheduleSchema,
  SchedulePauseSchema,
} from '../../../core/schema/schedule-schema.ts'
import { NewSecretSchema } from '../routes/secret-routes.ts'
import {
  BatchSchema,
  JobRunSchema,
  SubmissionSchema,
} from '../../../core/schema/submission-schema.ts'
import { JobDefinitionSchema } from '../../../core/schema/job-schema.ts'
import { ParameterSchema, StepSchema, TriggerSchema } from '../../../core/schema/workflow-schema.ts'
import { StepApprovalSchema, StepRefusalSchema, StepSkipSchema } from '../routes/step-routes.ts'
import { NewWebhookSchema, RotationSchema, WebhookSchema } from '../routes/webhook-routes.ts'
import {
  ExchangeSchema,
  HeartbeatSchema,
  HelloSchema,
  LeaveSchema,
  LogSchema,
} from '../routes/worker-schemas.ts'
import {
  NewCompatJobSchema,
  NewSubmissionSchema,
  CompatReportSchema,
  CompatWorkerNameSchema,
} from '../compat/schemas.ts'

/** Request bodies: the very schemas that check them. */
export const BODIES = {
  Submission: SubmissionSchema,
  SubmissionBatch: BatchSchema,
  RetryPolicy: SubmissionSchema.properties.retry,
  JobDefinition: JobDefinitionSchema,
  WorkflowStep: StepSchema,
  Parameter: ParameterSchema,
  Trigger: TriggerSchema,
  JobRun: JobRunSchema,
  Pause: PauseSchema,
  RunRetry: RetrySchema,
  StepApproval: StepApprovalSchema,
  StepRefusal: StepRefusalSchema,
  StepSkip: StepSkipSchema,
  HookCall: HookCallSchema,
  ScheduleDefinition: ScheduleSchema,
  DeclaredSchedule: DeclaredScheduleSchema,
  ScheduleTrial: PreviewSchema,
  SchedulePause: SchedulePauseSchema,
  BackfillRequest: BackfillSchema,
  QueueChange: QueueChangeSchema,
  QueueRate: QueueRateSchema,
  QueuesChange: AllQueuesSchema,
  NewToken: NewTokenSchema,
  NewSecret: NewSecretSchema,
  NewWebhook: NewWebhookSchema,
  WebhookSettings: WebhookSchema,
  WebhookRotation: RotationSchema,
  Hello: HelloSchema,
  Exchange: ExchangeSchema,
  Heartbeat: HeartbeatSchema,
  LogChunks: LogSchema,
  Leave: LeaveSchema,
  NewCompatJob: NewCompatJobSchema,
  CompatWorkerName: CompatWorkerNameSchema,
  CompatReport: CompatReportSchema,
  NewSubmission: NewSubmissionSchema,
} as const

export type BodyName = keyof typeof BODIES
