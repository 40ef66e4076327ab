import { idAtMs } from '../core/ids.ts'
import type { OccurrenceOutcome, OccurrenceReason } from '../core/schedule/firing/occurrence.ts'
import { decideOverlap } from '../core/schedule/firing/overlap.ts'
import type { Expectation, FireCommand, NewRun, SettledTime } from './port.ts'

/** The record of what happened to a nominal time, as both stores write it. */
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

/** The outcome of a fire command, once the open runs of the schedule are known. */
export interface Settlement {
  readonly runs: readonly NewRun[]
  readonly expected: readonly NewExpectation[]
  readonly occurrences: readonly NewOccurrence[]
  /** Outcomes of the times that were planned as runs. */
  readonly outcomes: readonly OccurrenceOutcome[]
  /** Runs to cancel. */
  readonly replaced: readonly number[]
  readonly openRuns: readonly number[]
}

/** What is expected of a run that is created. */
export interface NewExpectation extends Expectation {
  readonly run: NewRun
}

type ToRun = Extract<SettledTime, { kind: 'run' }>

/** Runs of one schedule meet each other in the order of their nominal times. */
export function settle(
  command: FireCommand,
  openBefore: readonly number[],
  now: number,
): Settlement {
  const { overlap, tracksOpenRuns } = command
  const open = [...openBefore]
  const runs: NewRun[] = []
  const expected: NewExpectation[] = []
  const outcomes: OccurrenceOutcome[] = []
  const replaced: number[] = []
  const last = command.settled.findLast((time) => time.kind === 'run')

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

  const occurrences = command.settled.map((time) => {
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
