import type { Dump } from '../history.ts'
import { runEndInvariants } from '../invariants/run-end-invariants.ts'
import { describeViolation } from '../violation.ts'
import type { RunSpec } from './run-spec.ts'
import { isBeginning, type TraceLine } from './trace-log.ts'

/** What happened to the load, from the traces of its processes and the database; nothing comes from product code. */
export interface GateHistory {
  /** What each acknowledged run was asked to do. */
  readonly runSpecs: ReadonlyMap<string, RunSpec>
  readonly lines: readonly TraceLine[]
  /** Runs for which a cancel was requested. */
  readonly cancelRequested: ReadonlySet<string>
  readonly dump: Dump
}

/** Every way in which a limit was broken or a run was lost. */
export function gateHistoryInvariants(history: GateHistory): string[] {
  return [
    ...clashesIn(history.lines),
    ...overlapsIn(history.lines),
    ...outcomesOf(history),
    ...missingFrom(history),
    ...runEndInvariants(history).map(describeViolation),
  ]
}

function clashesIn(lines: readonly TraceLine[]): string[] {
  return lines
    .filter(({ what }) => what === 'clash')
    .map(({ run, attempt, keys }) => {
      const whose = `attempt ${attempt} of ${run}`
      return `${whose} began while another process held ${keys.join(' or ')}`
    })
}

/**
 * With one slot per key, attempts come one after the other: once one has begun, an earlier one may write no
 * further line. A killed attempt may end silently.
 */
function overlapsIn(lines: readonly TraceLine[]): string[] {
  const current = new Map<string, TraceLine>()
  const violations: string[] = []
  for (const line of lines) {
    for (const key of line.keys) {
      const holder = current.get(key)
      if (isBeginning(line)) current.set(key, line)
      else if (holder && !isSameAttempt(holder, line)) {
        const after = `after attempt ${holder.attempt} of ${holder.run} had begun`
        violations.push(
          `${key}: attempt ${line.attempt} of ${line.run} wrote "${line.what}" ${after}`,
        )
      }
    }
  }
  return violations
}

function isSameAttempt(a: TraceLine, b: TraceLine): boolean {
  return a.run === b.run && a.fence === b.fence
}

/** Runs end as planned: a run may fail only because it was lost, never by its own error. */
function outcomesOf({ runSpecs, lines, cancelRequested, dump }: GateHistory): string[] {
  const ends = Map.groupBy(
    lines.filter(({ what }) => what === 'end'),
    ({ run }) => run,
  )
  return dump.runs.flatMap(({ run, state, cause }) => {
    const runSpec = runSpecs.get(run)
    if (!runSpec) return [`${run} was never submitted`]
    if (state === 'cancelled' && !cancelRequested.has(run))
      return [`${run} was cancelled without a request`]
    if (state === 'failed' && cause !== 'lost') return [`${run} failed: ${cause}`]
    const isDone = ends.get(run)?.some(({ attempt }) => attempt > runSpec.failFirst) ?? false
    return state === 'succeeded' && !isDone ? [`${run} succeeded without an end`] : []
  })
}

function missingFrom({ runSpecs, dump }: GateHistory): string[] {
  const known = new Set(dump.runs.map(({ run }) => run))
  return [...runSpecs.keys()]
    .filter((run) => !known.has(run))
    .map((run) => `${run} was acknowledged and does not exist`)
}
