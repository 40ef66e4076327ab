import { idAtMs } from '../../ids.ts'
import type { OccurrenceOutcome, OccurrenceReason } from './occurrence.ts'
import { decideOverlap, type Overlap } from './overlap.ts'
import type { TimesWithoutRun } from './firing-plan.ts'

/** A run that is planned for a nominal time. */
interface PlannedRun {
  readonly id: number
}

/**
 * A nominal time and the outcome that is planned for it. `Run` is what the store inserts, `Expected`
 * what it checks of the run later.
 */
export type TimeToSettle<Run extends PlannedRun, Expected extends object> =
  | {
      readonly kind: 'run'
      readonly nominalAt: number
      readonly run: Run
      readonly late: OccurrenceReason | null
      readonly expected?: Expected | undefined
    }
  | (TimesWithoutRun & { readonly detail?: string | undefined })

/** The planned times of one schedule, in ascending order. */
export interface TimesToSettle<Run extends PlannedRun, Expected extends object> {
  readonly settled: readonly TimeToSettle<Run, Expected>[]
  readonly overlap: Overlap
  readonly tracksOpenRuns: boolean
}

/** The record of what happened to a nominal time, as a store writes it. */
export interface NewOccurrence {
  readonly id: number
  readonly nominalAt: number
  readonly untilAt: number
  readonly count: number | null
  readonly outcome: OccurrenceOutcome
  readonly reason: OccurrenceReason | null
  readonly detail: string | null
  readonly otherRunId: number | null
}

/** The outcome of a plan, once the open runs of the schedule are known. */
export interface Settlement<Run extends PlannedRun, Expected extends object> {
  readonly runs: readonly Run[]
  readonly expected: readonly (Expected & { readonly run: Run })[]
  readonly occurrences: readonly NewOccurrence[]
  /** Outcomes of the times that were planned as runs. */
  readonly outcomes: readonly OccurrenceOutcome[]
  /** Runs to cancel. */
  readonly replaced: readonly number[]
  readonly openRuns: readonly number[]
}

/** Runs of one schedule meet each other in the order of their nominal times. */
export function settle<Run extends PlannedRun, Expected extends object>(
  plan: TimesToSettle<Run, Expected>,
  openBefore: readonly number[],
  now: number,
): Settlement<Run, Expected> {
  type ToRun = Extract<TimeToSettle<Run, Expected>, { kind: 'run' }>
  const { overlap, tracksOpenRuns } = plan
  const open = [...openBefore]
  const runs: Run[] = []
  const expected: (Expected & { readonly run: Run })[] = []
  const outcomes: OccurrenceOutcome[] = []
  const replaced: number[] = []
  const last = plan.settled.findLast((time) => time.kind === 'run')

  const record = (time: ToRun, decided: TimeOutcome, otherRunId: number | null): NewOccurrence => {
    const { outcome, reason } = decided
    outcomes.push(outcome)
    const { nominalAt } = time
    const hasRun = decided.outcome !== 'skipped' && decided.outcome !== 'merged'
    if (hasRun) runs.push(time.run)
    if (hasRun && time.expected) expected.push({ ...time.expected, run: time.run })
    if (hasRun && tracksOpenRuns) open.push(time.run.id)
    const id = hasRun ? time.run.id : idAtMs(now)
    return {
      id,
      nominalAt,
      untilAt: nominalAt,
      count: 1,
      outcome,
      reason,
      detail: null,
      otherRunId,
    }
  }

  const run = (time: ToRun): NewOccurrence => {
    const inTime: TimeOutcome = { outcome: time.late ? 'delayed' : 'fired', reason: time.late }
    switch (decideOverlap(overlap, open.length)) {
      case 'run':
        // Of several runs that replace each other at once, only the last is created.
        if (overlap.kind !== 'replace' || time === last) return record(time, inTime, null)
        return record(time, MERGED, last?.run.id ?? null)
      case 'wait':
        return record(time, { outcome: 'blocked', reason: 'overlap' }, open[0] ?? null)
      case 'replace': {
        if (time !== last) return record(time, MERGED, last?.run.id ?? null)
        replaced.push(...open)
        return record(time, inTime, open.at(-1) ?? null)
      }
      case 'skip':
        return record(time, { outcome: 'skipped', reason: 'overlap' }, open[0] ?? null)
      case 'merge':
        return record(time, MERGED, open.at(-1) ?? null)
    }
  }

  const occurrences = plan.settled.map((time) => {
    if (time.kind === 'run') return run(time)
    const { kind: _, detail = null, ...rest } = time
    return { ...rest, id: idAtMs(now), detail, otherRunId: null }
  })
  return { runs, expected, occurrences, outcomes, replaced, openRuns: tracksOpenRuns ? open : [] }
}

interface TimeOutcome {
  readonly outcome: OccurrenceOutcome
  readonly reason: OccurrenceReason | null
}
const MERGED: TimeOutcome = { outcome: 'merged', reason: 'overlap' }

/** Times that came due without an outcome before the schedule was changed or deleted. */
export function occurrenceBeforeChange(
  row: { readonly nextNominalAt: number | null; readonly pausedBy: 'people' | 'job' | null },
  now: number,
  reason: 'edited' | 'deleted',
  /** The next nominal time: it is not part of the range, even if it is already past. */
  next: number | null,
): NewOccurrence | null {
  const { nextNominalAt, pausedBy } = row
  const untilAt = Math.min(now, (next ?? Number.POSITIVE_INFINITY) - 1)
  if (nextNominalAt === null || nextNominalAt > untilAt) return null
  return {
    id: idAtMs(now),
    nominalAt: nextNominalAt,
    untilAt,
    count: null,
    outcome: 'skipped',
    reason: pausedBy === null ? reason : pausedBy === 'job' ? 'job_paused' : 'paused',
    detail: null,
    otherRunId: null,
  }
}
