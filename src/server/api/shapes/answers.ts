import { ADMIN_SHAPES } from './admin-shapes.ts'
import { COMPAT_SHAPES } from './compat-shapes.ts'
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

/** Response bodies. */
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
  ...COMPAT_SHAPES,
  ...PROBLEM_SHAPES,
} as const satisfies Readonly<Record<string, Shape>>

export type SchemaName = keyof typeof ANSWERS
