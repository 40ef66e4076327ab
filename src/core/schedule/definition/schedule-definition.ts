import { parseDuration } from '../../text/duration.ts'
import { DEFAULT_MISSED, type MissedPolicy } from '../firing/missed.ts'
import { MOST_QUEUED, type Overlap } from '../firing/overlap.ts'
import type { ScheduleSpec, SpecInput } from '../firing/schedule-spec.ts'
import {
  type ExpectationsDefinition,
  readExpectations,
  writeExpectations,
} from '../../expectation/expectations.ts'
import { readRule, type RuleSource } from '../index.ts'
import { writeInterval } from '../interval.ts'
import { refusal } from '../../schedule-refusal.ts'

export const MISSED_POLICIES = ['skip', 'latest', 'all'] as const

/** A schedule as people write it: exactly one of `cron`, `every` and `at`, and how it is meant. */
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
  /** Where local times are local to, if the definition does not say. */
  readonly zone: string
  /** What tells this schedule from others: `H` and jitter are a hash of it. */
  readonly seed: string
  /** Where it stands in the request, such as `schedule.1.`. */
  readonly at?: string
}

/** What a definition means. Throws what is wrong with it, and what would be right. */
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
    throw refusal(`${at}${field}`, message, hint)
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

/** Everything a stored schedule says, in words that `readSchedule` reads again. */
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

/** The same text for the same rule: defaults are written down, and fields stand in one order. */
function ruleOf(definition: ScheduleDefinition, zone: string, seed: string): RuleSource {
  const { cron, every, at, dst = {}, start, end, jitter } = definition
  const { gap = 'run-after', repeat = 'first' } = dst
  const said = { cron, every, at, start, end, jitter }
  const given = Object.entries(said).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...{ zone: definition.zone ?? zone, dst: { gap, repeat }, seed },
  }
}

const QUEUE = /^queue(?:\((\d{1,4})\))?$/

function readOverlap(text: string | undefined, field: string): Overlap | undefined {
  if (text === undefined) return undefined
  if (text === 'skip' || text === 'replace' || text === 'allow') return { kind: text }
  const [whole, digits = '1'] = QUEUE.exec(text) ?? []
  const most = Number(digits)
  if (whole !== undefined && most >= 1 && most <= MOST_QUEUED) return { kind: 'queue', most }
  const message = `"${text.slice(0, 40)}" is not skip, queue, queue(n), replace or allow`
  throw refusal(field, message, `At most ${MOST_QUEUED} may wait: queue(1) is what is usual.`)
}

function readMissed(
  said: ScheduleDefinition['missed'],
  field: string,
): Partial<MissedPolicy> | undefined {
  if (said === undefined) return undefined
  if (typeof said === 'string') return { kind: said }
  const { policy, max_age, max_count, every } = said
  if (policy === 'skip' && max_age !== undefined) {
    throw refusal(`${field}.max_age`, 'with skip, none is made up for, however young')
  }
  for (const [name, value] of [['max_count', max_count] as const, ['every', every] as const]) {
    if (policy === 'all' || value === undefined) continue
    throw refusal(`${field}.${name}`, `it has a meaning only with all, not with ${policy}`)
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
    ...{ ...age, max_count: maxCount },
    ...(everyMs === 0 ? {} : { every: writeInterval(everyMs) }),
  }
}
