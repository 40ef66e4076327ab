import { parseDuration } from '../text/duration.ts'
import { writeInterval } from '../schedule/interval.ts'
import { refusal } from '../schedule-refusal.ts'

/** What people expect of runs, as they write it. */
export interface ExpectationsDefinition {
  /** So long after its time a run should have ended, or by which time of the day: `30m`, `05:30`. */
  readonly deadline?: string | undefined
  readonly expect?:
    | {
        /** So long after its time it should have started. */
        readonly start?: string | undefined
        /** So long it may take; `2x` is twice what it usually takes. */
        readonly duration?: string | undefined
        /** A success prints something, or gives a result. */
        readonly output?: boolean | undefined
      }
    | undefined
}

/** The same as it is stored. Of a deadline there is one or the other, and of a duration too. */
export interface Expectations {
  readonly deadlineMs?: number | undefined
  /** `05:30` or `05:30:15`, on the clocks of the schedule. */
  readonly deadlineClock?: string | undefined
  readonly expectMs?: number | undefined
  /** So many times what it usually takes. */
  readonly expectTimes?: number | undefined
  readonly expectStartMs?: number | undefined
  readonly expectOutput?: true | undefined
}

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/
const TIMES = /^(\d{1,3}(?:\.\d{1,3})?)x$/
const MOST_TIMES = 100

/** Throws what is wrong, and what would be right; `at` is where it stands in the request. */
export function readExpectations(
  { deadline, expect }: ExpectationsDefinition,
  at: string,
): Expectations {
  return {
    ...(deadline === undefined ? {} : readDeadline(deadline, `${at}deadline`)),
    ...(expect === undefined ? {} : readExpect(expect, `${at}expect`)),
  }
}

/** Words that `readExpectations` reads again. */
export function writeExpectations(said: Expectations): ExpectationsDefinition {
  const { deadlineMs, expectMs, expectTimes, expectStartMs, expectOutput } = said
  const deadline = deadlineMs === undefined ? said.deadlineClock : writeInterval(deadlineMs)
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

/** What a schedule says wins over what its job says for all of them, one by one. */
export function withExpectationsOf(job: Expectations, own: Expectations): Expectations {
  const saysDeadline = own.deadlineMs !== undefined || own.deadlineClock !== undefined
  const saysDuration = own.expectMs !== undefined || own.expectTimes !== undefined
  const { deadlineMs, deadlineClock } = saysDeadline ? own : job
  const { expectMs, expectTimes } = saysDuration ? own : job
  return {
    ...{ deadlineMs, deadlineClock, expectMs, expectTimes },
    expectStartMs: own.expectStartMs ?? job.expectStartMs,
    expectOutput: own.expectOutput ?? job.expectOutput,
  }
}

function readDeadline(text: string, field: string): Expectations {
  if (!text.includes(':')) return { deadlineMs: readSpan(text, field) }
  if (CLOCK.test(text)) return { deadlineClock: text }
  const message = `"${text.slice(0, 40)}" is no time of a day`
  throw refusal(field, message, 'Write it as 05:30, or as a duration after its time: 30m.')
}

function readExpect(
  { start, duration, output }: NonNullable<ExpectationsDefinition['expect']>,
  field: string,
): Expectations {
  if (start === undefined && duration === undefined && output === undefined) {
    throw refusal(field, 'it expects nothing', 'Say start, duration or output.')
  }
  return {
    ...(duration === undefined ? {} : readLongest(duration, `${field}.duration`)),
    ...(start === undefined ? {} : { expectStartMs: readSpan(start, `${field}.start`) }),
    ...(output ? { expectOutput: true as const } : {}),
  }
}

function readLongest(text: string, field: string): Expectations {
  if (!text.endsWith('x')) return { expectMs: readSpan(text, field) }
  const times = Number(TIMES.exec(text)?.[1])
  if (times > 1 && times <= MOST_TIMES) return { expectTimes: times }
  const message = `"${text.slice(0, 40)}" is not a number of times, more than 1 and at most ${MOST_TIMES}`
  throw refusal(field, message, 'Write it as 2x or 1.5x, or as a duration: 20m.')
}

function readSpan(text: string, field: string): number {
  const ms = parseDuration(text, field)
  if (ms > 0) return ms
  throw refusal(field, 'it leaves no time at all', 'Write it as 90s, 15m or 1h30m.')
}
