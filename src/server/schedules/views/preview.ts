import {
  readSchedule,
  type ScheduleDefinition,
  writeSchedule,
} from '../../../core/schedule/definition/schedule-definition.ts'
import { decodeSpec, encodeSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import {
  type ClockChange,
  clockChanges,
  localTime,
  readRule,
  type RuleSource,
  showOffset,
} from '../../../core/schedule/index.ts'
import type {
  WireClockChange,
  WirePlannedTime,
  WirePreview,
} from '../../../core/schedule/definition/schedule-views.ts'
import { pastRuleProblem, scheduleError } from '../../../core/schedule/rule/rule-error.ts'
import { scheduleWords } from '../../../core/schedule/definition/describe-schedule.ts'
import { formatTime } from '../../../core/wire/runs.ts'

const YEAR_MS = 366 * 86_400_000

/** What a schedule would do, without creating one. */
export function previewSchedule(
  definition: ScheduleDefinition,
  { zone, seed, now, count }: { zone: string; seed: string; now: number; count: number },
): WirePreview {
  const input = readSchedule(definition, { zone, seed })
  const { rule } = input
  const next = nextTimes(rule, now, count)
  if (next.length === 0) {
    const { field, message, hint } = pastRuleProblem(rule)
    throw scheduleError(field, message, hint)
  }
  return {
    words: scheduleWords(rule),
    definition: writeSchedule(decodeSpec<RuleSource>(encodeSpec(input))),
    next: next.map((at) => showTime(at, rule)),
    clock_changes: clockChanges(rule, now, now + YEAR_MS).map((change) => showChange(change, rule)),
  }
}

export function showTime(at: number, { zone = 'UTC' }: RuleSource): WirePlannedTime {
  return { at: formatTime(at, 'at'), local: localTime(at, zone) }
}

/** For a schedule that follows the end of its runs, only the first time is known. */
function nextTimes(rule: RuleSource, now: number, count: number): number[] {
  const reading = readRule(rule)
  if (!reading.ok) return []
  const most = reading.rule.afterFinish === null ? count : 1
  const times: number[] = []
  for (let at = reading.rule.next(now); at !== null && times.length < most;) {
    times.push(at)
    at = reading.rule.next(at)
  }
  return times
}

function showChange(change: ClockChange, rule: RuleSource): WireClockChange {
  const { at, before, after } = change
  const fires = change.repeat?.fires ?? [change.gap?.firesAt ?? null]
  return {
    at: formatTime(at, 'at'),
    from_offset: showOffset(before),
    to_offset: showOffset(after),
    ...effectOf(change, rule),
    fires: fires.flatMap((time) => (time === null ? [] : [showTime(time, rule)])),
  }
}

function effectOf(
  { at, before, after, gap, repeat }: ClockChange,
  { zone = 'UTC', dst }: RuleSource,
): Pick<WireClockChange, 'effect' | 'sentence'> {
  const clock = (offset: number) => new Date(at + offset * 1_000).toISOString().slice(11, 16)
  const day = localTime(at, zone).slice(0, 10)
  const jump = `on ${day} clocks go from ${clock(before)} to ${clock(after)}`
  if (gap?.firesAt === null) {
    return { effect: 'left_out', sentence: `${jump}: skipped times are left out.` }
  }
  if (gap) {
    return { effect: 'moved', sentence: `${jump}: skipped times fire once, at ${clock(after)}.` }
  }
  if (!repeat) return { effect: 'none', sentence: `${jump}: it fires as always.` }
  if (dst?.repeat === 'both') {
    return { effect: 'twice', sentence: `${jump}: repeated times fire twice.` }
  }
  const which = dst?.repeat === 'last' ? 'second' : 'first'
  return { effect: 'once', sentence: `${jump}: repeated times fire once, the ${which} time.` }
}
