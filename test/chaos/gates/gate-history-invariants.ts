import type { Dump } from '../history.ts'
import { endingLaws } from '../invariants/run-end-invariants.ts'
import { describeViolation } from '../violation.ts'
import type { Errand } from './run-spec.ts'
import { isBeginning, type Line } from './trace-log.ts'

/** What became of a crowd, as those who were there tell it; nothing in it comes from the product. */
export interface CrowdHistory {
  /** What was asked for, by the run that was acknowledged for it. */
  readonly errands: ReadonlyMap<string, Errand>
  readonly lines: readonly Line[]
  /** Runs that somebody asked to cancel. */
  readonly doomed: ReadonlySet<string>
  readonly dump: Dump
}

/** Every way in which the limits were broken, or something was lost on the way. */
export function crowdLaws(history: CrowdHistory): string[] {
  return [
    ...clashesIn(history.lines),
    ...overlapsIn(history.lines),
    ...outcomesOf(history),
    ...missingFrom(history),
    ...endingLaws(history).map(describeViolation),
  ]
}

function clashesIn(lines: readonly Line[]): string[] {
  return lines
    .filter(({ what }) => what === 'clash')
    .map(({ run, attempt, keys }) => {
      const whose = `attempt ${attempt} of ${run}`
      return `${whose} began while somebody lived who had ${keys.join(' or ')}`
    })
}

/**
 * With one place to a key, attempts come one after the other: once one has begun, nothing may be heard
 * of an earlier one. Those that were killed in the middle are allowed to be silent, not to speak up.
 */
function overlapsIn(lines: readonly Line[]): string[] {
  const current = new Map<string, Line>()
  const violations: string[] = []
  for (const line of lines) {
    for (const key of line.keys) {
      const holder = current.get(key)
      if (isBeginning(line)) current.set(key, line)
      else if (holder && !isSameAttempt(holder, line)) {
        const after = `after attempt ${holder.attempt} of ${holder.run} had begun`
        violations.push(
          `${key}: attempt ${line.attempt} of ${line.run} said "${line.what}" ${after}`,
        )
      }
    }
  }
  return violations
}

function isSameAttempt(a: Line, b: Line): boolean {
  return a.run === b.run && a.fence === b.fence
}

/** Runs end as they were meant to: what fails does so for its worker's sake, never for its own. */
function outcomesOf({ errands, lines, doomed, dump }: CrowdHistory): string[] {
  const ends = Map.groupBy(
    lines.filter(({ what }) => what === 'end'),
    ({ run }) => run,
  )
  return dump.runs.flatMap(({ run, state, cause }) => {
    const errand = errands.get(run)
    if (!errand) return [`${run} was never asked for`]
    if (state === 'cancelled' && !doomed.has(run)) return [`${run} was cancelled by nobody`]
    if (state === 'failed' && cause !== 'lost') return [`${run} failed: ${cause}`]
    const isDone = ends.get(run)?.some(({ attempt }) => attempt > errand.failFirst) ?? false
    return state === 'succeeded' && !isDone ? [`${run} succeeded and was never done`] : []
  })
}

function missingFrom({ errands, dump }: CrowdHistory): string[] {
  const known = new Set(dump.runs.map(({ run }) => run))
  return [...errands.keys()]
    .filter((run) => !known.has(run))
    .map((run) => `${run} was acknowledged and is not there`)
}
