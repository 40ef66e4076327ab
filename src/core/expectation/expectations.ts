import { parseDuration } from '../text/duration.ts'
import { writeInterval } from '../schedule/interval.ts'
import { scheduleError } from '../schedule/rule/rule-error.ts'

/** Expectations about runs, as users write them. */
export interface ExpectationsDefinition {
  /** The run should have ended this long after its nominal time, or by this time of day: `30m`, `05:30`. */
  readonly deadline?: string | undefined
  readonly expect?:
    | {
        /** The run should have started this long after its nominal time. */
        readonly start?: string | undefined
        /** Maximum duration; `2x` is twice the typical duration. */
        readonly duration?: string | undefined
        /** A successful run must print something or return a result. */
        readonly output?: boolean | undefined
      }
    | undefined
}

/**
 * The stored form. A deadline is either a duration or a time of day; the maximum duration is absolute or relative.
 */
export interface Expectations {
  readonly deadlineMs?: number | undefined
  /** `05:30` or `05:30:15`, in the time zone of the schedule. */
  readonly deadlineClock?: string | undefined
  readonly expectMs?: number | undefined
  /** Maximum duration as a multiple of the typical duration. */
  readonly expectTimes?: number | undefined
  readonly expectStartMs?: number | undefined
  readonly expectOutput?: true | undefined
}

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/
const TIMES = /^(\d{1,3}(?:\.\d{1,3})?)x$/
const MAX_TIMES = 100

/** Throws an error with a hint if the definition is invalid; `at` is the field prefix in the request. */
export function readExpectations(
  { deadline, expect }: ExpectationsDefinition,
  at: string,
): Expectations {
  return {
    ...(deadline === undefined ? {} : readDeadline(deadline, `${at}deadline`)),
    ...(expect === undefined ? {} : readExpect(expect, `${at}expect`)),
  }
}

/** The form that `readExpectations` reads. */
export function writeExpectations(expectations: Expectations): ExpectationsDefinition {
  const { deadlineMs, expectMs, expectTimes, expectStartMs, expectOutput } = expectations
  const deadline = deadlineMs === undefined ? expectations.deadlineClock : writeInterval(deadlineMs)
  const expect = {
    ...(expectStartMs === undefined ? {} : { start: writeInterval(expectStartMs) }),
    ...(expectMs === undefined ? {} : { duration: writeInterval(expectMs) }),
    ...(expectTimes === undefined ? {} : { duration: `${expectTimes}x` }),
    ...(expectOutput === undefined ? {} : { output: true }),
  }
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...(Object.keys(expect).length === 0 ? {} : { expect }),
  }
}

/** Each expectation of a schedule replaces that of its job. */
export function withExpectationsOf(job: Expectations, own: Expectations): Expectations {
  const saysDeadline = own.deadlineMs !== undefined || own.deadlineClock !== undefined
  const saysDuration = own.expectMs !== undefined || own.expectTimes !== undefined
  const { deadlineMs, deadlineClock } = saysDeadline ? own : job
  const { expectMs, expectTimes } = saysDuration ? own : job
  return {
    deadlineMs,
    deadlineClock,
    expectMs,
    expectTimes,
    expectStartMs: own.expectStartMs ?? job.expectStartMs,
    expectOutput: own.expectOutput ?? job.expectOutput,
  }
}

function readDeadline(text: string, field: string): Expectations {
  if (!text.includes(':')) return { deadlineMs: readPositiveDuration(text, field) }
  if (CLOCK.test(text)) return { deadlineClock: text }
  const message = `"${text.slice(0, 40)}" is not a time of day`
  throw scheduleError(field, message, 'Write it as 05:30, or as a duration after its time: 30m.')
}

function readExpect(
  { start, duration, output }: NonNullable<ExpectationsDefinition['expect']>,
  field: string,
): Expectations {
  if (start === undefined && duration === undefined && output === undefined) {
    throw scheduleError(field, 'it is empty', 'Set start, duration or output.')
  }
  return {
    ...(duration === undefined ? {} : readLongest(duration, `${field}.duration`)),
    ...(start === undefined
      ? {}
      : { expectStartMs: readPositiveDuration(start, `${field}.start`) }),
    ...(output ? { expectOutput: true as const } : {}),
  }
}

function readLongest(text: string, field: string): Expectations {
  if (!text.endsWith('x')) return { expectMs: readPositiveDuration(text, field) }
  const times = Number(TIMES.exec(text)?.[1])
  if (times > 1 && times <= MAX_TIMES) return { expectTimes: times }
  const message = `"${text.slice(0, 40)}" is not a multiple greater than 1 and at most ${MAX_TIMES}`
  throw scheduleError(field, message, 'Write it as 2x or 1.5x, or as a duration: 20m.')
}

function readPositiveDuration(text: string, field: string): number {
  const ms = parseDuration(text, field)
  if (ms > 0) return ms
  throw scheduleError(field, 'it must be longer than zero', 'Write it as 90s, 15m or 1h30m.')
}
