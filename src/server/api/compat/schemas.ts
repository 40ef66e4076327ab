import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { fields, longText, name, oneOf, text } from '../../../core/schema/fields.ts'
import { limitParameter } from '../http/request.ts'
import { REPORTS } from '../../compat/compat-reports.ts'

export const WORKER_ID = '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$'

function workerId() {
  const description = 'a name: 1 to 128 of A-Z a-z 0-9 . _ : @ - starting with a letter or digit'
  return Type.String({ pattern: WORKER_ID, description })
}

/** Absent, null and empty are the same to programs that always send every field. */
function textOrNothing(description: string) {
  return Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], description }))
}

const RECURRENCE = 'a recurrence such as */5 * * * *, @every 90s or @daily, or null'

export const NewPlainJob = fields({
  name: text(LIMITS.nameLength),
  command: longText(),
  schedule: textOrNothing(RECURRENCE),
})

export const NewSubmission = fields({
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

export const PlainWorkerName = fields({ worker_id: workerId() })

export const PlainReport = fields({
  worker_id: workerId(),
  logs: Type.Optional(longText()),
  status: oneOf(REPORTS),
})

export const JobPath = fields({
  id: longText(),
})
export const WorkerPath = fields({ id: workerId() })
export const NextParameters = fields({
  wait: Type.Optional(Type.String({ description: 'a duration, such as 10s' })),
})
export const PlainPaging = fields({
  limit: limitParameter,
  before: Type.Optional(longText()),
})
export const JobParameter = fields({ id: longText() })
