import { idAtMs } from '../core/ids.ts'
import type { Outcome, Reason } from '../core/schedule/firing/occurrence.ts'
import { meet } from '../core/schedule/firing/overlap.ts'
import type { Expectation, FireCommand, NewRun, SettledTime } from './port.ts'

/** A record of what became of a time, as both stores write it. */
export interface NewOccurrence {
  readonly id: number
  readonly nominalAt: number
  readonly untilAt: number
  readonly count: number | null
  readonly outcome: Outcome
  readonly reason: Reason | null
  readonly detail: string | null
  readonly otherRunId: number | null
}

/** What a command comes to, once it is known which runs of the schedule are open. */
export interface Settlement {
  readonly runs: readonly NewRun[]
  readonly expected: readonly NewExpectation[]
  readonly occurrences: readonly NewOccurrence[]
  /** Of the times that were to become runs. */
  readonly outcomes: readonly Outcome[]
  /** Runs to cancel. */
  readonly replaced: readonly number[]
  readonly openRuns: readonly number[]
}

/** What is expected of a run that is made. */
export interface NewExpectation extends Expectation {
  readonly run: NewRun
}

type ToRun = Extract<SettledTime, { kind: 'run' }>

/** Runs of one schedule meet each other in the order of their times. */
export function settle(
  command: FireCommand,
  openBefore: readonly number[],
  now: number,
): Settlement {
  const { overlap, remembers } = command
  const open = [...openBefore]
  const runs: NewRun[] = []
  const expected: NewExpectation[] = []
  const outcomes: Outcome[] = []
  const replaced: number[] = []
  const last = command.settled.findLast((time) => time.kind === 'run')

  const become = (time: ToRun, fate: Fate, otherRunId: number | null): NewOccurrence => {
    const { outcome, reason } = fate
    outcomes.push(outcome)
    const { nominalAt } = time
    const hasRun = fate.outcome !== 'skipped' && fate.outcome !== 'merged'
    if (hasRun) runs.push(time.run)
    if (hasRun && time.expected) expected.push({ ...time.expected, run: time.run })
    if (hasRun && remembers) open.push(time.run.id)
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
    const inTime: Fate = { outcome: time.late ? 'delayed' : 'fired', reason: time.late }
    switch (meet(overlap, open.length)) {
      case 'run':
        // Of several that replace each other at once, only the last needs to be there.
        if (overlap.kind !== 'replace' || time === last) return become(time, inTime, null)
        return become(time, MERGED, last?.run.id ?? null)
      case 'wait':
        return become(time, { outcome: 'blocked', reason: 'overlap' }, open[0] ?? null)
      case 'replace': {
        if (time !== last) return become(time, MERGED, last?.run.id ?? null)
        replaced.push(...open)
        return become(time, inTime, open.at(-1) ?? null)
      }
      case 'skip':
        return become(time, { outcome: 'skipped', reason: 'overlap' }, open[0] ?? null)
      case 'merge':
        return become(time, MERGED, open.at(-1) ?? null)
    }
  }

  const occurrences = command.settled.map((time) => {
    if (time.kind === 'run') return run(time)
    const { kind: _, detail = null, ...rest } = time
    return { ...rest, id: idAtMs(now), detail, otherRunId: null }
  })
  return { runs, expected, occurrences, outcomes, replaced, openRuns: remembers ? open : [] }
}

interface Fate {
  readonly outcome: Outcome
  readonly reason: Reason | null
}
const MERGED: Fate = { outcome: 'merged', reason: 'overlap' }

/** Times that came due and became nothing before somebody changed or deleted the schedule. */
export function overtaken(
  row: { readonly nextNominalAt: number | null; readonly pausedBy: 'people' | 'job' | null },
  now: number,
  reason: 'edited' | 'deleted',
  /** What comes now is not part of it, even if that is past already. */
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
