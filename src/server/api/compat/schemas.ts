import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { EXIT_CODES } from '../../../core/run/output.ts'
import { fields, longText, name, oneOf, boundedText } from '../../../core/schema/fields.ts'
import { limitParameter } from '../http/request.ts'
import { REPORTS } from '../../compat/compat-reports.ts'
import { EMPTY_ANSWERS } from '../../compat/wire.ts'

export const WORKER_ID = '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$'

function workerId() {
  const description = 'a name: 1 to 128 of A-Z a-z 0-9 . _ : @ - starting with a letter or digit'
  return Type.String({ pattern: WORKER_ID, description })
}

/** Absent, null and empty are the same for programs that always send every field. */
function textOrNothing(description: string) {
  return Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], description }))
}

const RECURRENCE = 'a recurrence such as */5 * * * *, @every 90s or @daily, or null'

export const NewCompatJobSchema = fields({
  name: boundedText(LIMITS.nameLength),
  command: longText(),
  schedule: textOrNothing(RECURRENCE),
})

export const NewSubmissionSchema = fields({
  project_id: name(),
  payload: longText(),
  cron_schedule: textOrNothing(RECURRENCE),
  next_fire_at: textOrNothing('a time with its zone, like 2026-01-31T09:00:00Z, or null'),
  max_retries: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: LIMITS.retries,
      description: `a whole number, 0 to ${LIMITS.retries}, or null`,
    }),
  ),
})

export const CompatWorkerNameSchema = fields({ worker_id: workerId() })

export const CompatReportSchema = fields({
  worker_id: workerId(),
  logs: Type.Optional(longText()),
  status: oneOf(REPORTS),
  exit_code: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      ...EXIT_CODES,
      description: 'a whole number of 32 bits, or null',
    }),
  ),
})

export const JobPathSchema = fields({
  id: longText(),
})
export const WorkerPathSchema = fields({ id: workerId() })
export const NextParametersSchema = fields({
  empty: Type.Optional(oneOf(EMPTY_ANSWERS)),
  wait: Type.Optional(Type.String({ description: 'a duration, such as 10s' })),
})
export const CompatPagingSchema = fields({
  limit: limitParameter,
  before: Type.Optional(longText()),
})
export const JobParameterSchema = fields({ id: longText() })
