import { parseDuration } from '../../text/duration.ts'
import { DEFAULT_MISSED, type MissedPolicy } from '../firing/missed.ts'
import { MAX_QUEUED, type Overlap } from '../firing/overlap.ts'
import type { ScheduleSpec, SpecInput } from '../firing/schedule-spec.ts'
import {
  type ExpectationsDefinition,
  readExpectations,
  writeExpectations,
} from '../../expectation/expectations.ts'
import { readRule, type RuleSource } from '../index.ts'
import { writeInterval } from '../interval.ts'
import { scheduleError } from '../rule/rule-error.ts'

export const MISSED_POLICIES = ['skip', 'latest', 'all'] as const

/** A schedule as users write it: exactly one of `cron`, `every` and `at`, and options. */
export interface ScheduleDefinition
  extends Omit<RuleSource, 'at' | 'start' | 'end' | 'jitter'>, ExpectationsDefinition {
  readonly at?: string | undefined
  readonly start?: string | undefined
  readonly end?: string | undefined
  readonly jitter?: string | undefined
  /** `skip`, `queue`, `queue(3)`, `replace` or `allow`. */
  readonly overlap?: string | undefined
  readonly missed?: MissedPolicy['kind'] | MissedDefinition | undefined
  readonly input?: unknown
  readonly priority?: number | undefined
}

export interface MissedDefinition {
  readonly policy: MissedPolicy['kind']
  readonly max_age?: string | undefined
  readonly max_count?: number | undefined
  readonly every?: string | undefined
}

export interface ScheduleContext {
  /** The zone of local times, if the definition has none. */
  readonly zone: string
  /** Unique per schedule: `H` and jitter are hashes of it. */
  readonly seed: string
  /** The field prefix in the request, such as `schedule.1.`. */
  readonly at?: string
}

/** Reads a definition. Throws an error with a hint if it is invalid. */
export function readSchedule(
  definition: ScheduleDefinition,
  { zone, seed, at = '' }: ScheduleContext,
): SpecInput<RuleSource> {
  const { input, priority } = definition
  const expectations = readExpectations(definition, at)
  const rule = ruleOf(definition, zone, seed)
  const reading = readRule(rule)
  if (!reading.ok) {
    const { field, message, hint } = reading.problem
    throw scheduleError(`${at}${field}`, message, hint)
  }
  return {
    rule,
    overlap: readOverlap(definition.overlap, `${at}overlap`),
    missed: readMissed(definition.missed, `${at}missed`),
    ...(input === undefined ? {} : { input }),
    ...(priority === undefined ? {} : { priority }),
    ...expectations,
  }
}

/** A stored schedule as a complete definition that `readSchedule` reads. */
export function writeSchedule(spec: ScheduleSpec<RuleSource>): ScheduleDefinition {
  const { seed: _, ...rule } = spec.rule
  const { overlap, missed, input, priority } = spec
  return {
    ...(rule as Omit<ScheduleDefinition, 'overlap' | 'missed'>),
    overlap: overlap.kind === 'queue' ? `queue(${overlap.most})` : overlap.kind,
    missed: writeMissed(missed),
    ...(input === undefined ? {} : { input }),
    ...(priority === undefined ? {} : { priority }),
    ...writeExpectations(spec),
  }
}

/** Equal rules have equal text: defaults are written, and fields have a fixed order. */
function ruleOf(definition: ScheduleDefinition, zone: string, seed: string): RuleSource {
  const { cron, every, at, dst = {}, start, end, jitter } = definition
  const { gap = 'run-after', repeat = 'first' } = dst
  const stated = { cron, every, at, start, end, jitter }
  const given = Object.entries(stated).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    zone: definition.zone ?? zone,
    dst: { gap, repeat },
    seed,
  }
}

const QUEUE = /^queue(?:\((\d{1,4})\))?$/

function readOverlap(text: string | undefined, field: string): Overlap | undefined {
  if (text === undefined) return undefined
  if (text === 'skip' || text === 'replace' || text === 'allow') return { kind: text }
  const [whole, digits = '1'] = QUEUE.exec(text) ?? []
  const most = Number(digits)
  if (whole !== undefined && most >= 1 && most <= MAX_QUEUED) return { kind: 'queue', most }
  const message = `"${text.slice(0, 40)}" is not skip, queue, queue(n), replace or allow`
  throw scheduleError(field, message, `At most ${MAX_QUEUED} may wait: the default is queue(1).`)
}

function readMissed(
  stated: ScheduleDefinition['missed'],
  field: string,
): Partial<MissedPolicy> | undefined {
  if (stated === undefined) return undefined
  if (typeof stated === 'string') return { kind: stated }
  const { policy, max_age, max_count, every } = stated
  if (policy === 'skip' && max_age !== undefined) {
    throw scheduleError(`${field}.max_age`, 'it has no effect with skip')
  }
  for (const [name, value] of [['max_count', max_count] as const, ['every', every] as const]) {
    if (policy === 'all' || value === undefined) continue
    throw scheduleError(`${field}.${name}`, `it can only be used with all, not with ${policy}`)
  }
  return {
    kind: policy,
    ...(max_age === undefined ? {} : { maxAgeMs: parseDuration(max_age, `${field}.max_age`) }),
    ...(max_count === undefined ? {} : { maxCount: max_count }),
    ...(every === undefined ? {} : { everyMs: parseDuration(every, `${field}.every`) }),
  }
}

function writeMissed({ kind, maxAgeMs, maxCount, everyMs }: MissedPolicy) {
  if (kind === 'skip') return kind
  const age = { policy: kind, max_age: writeInterval(maxAgeMs) }
  if (kind === 'latest') return maxAgeMs === DEFAULT_MISSED.maxAgeMs ? kind : age
  return {
    ...age,
    max_count: maxCount,
    ...(everyMs === 0 ? {} : { every: writeInterval(everyMs) }),
  }
}
