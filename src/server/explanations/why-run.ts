import { formatDuration } from '../../core/text/duration.ts'
import type { StepIdentity } from '../../core/wire/workflow-view.ts'
import { publicId } from '../../core/ids.ts'
import type { OccurrenceReason } from '../../core/schedule/firing/occurrence.ts'
import { describeExpectationViolation } from '../../core/expectation/violation.ts'
import type { Lane } from '../../core/queue/lane.ts'
import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { RunTrigger } from '../../core/wire/protocol.ts'
import type { WhyCode, WireWhy, WireWorker } from '../../core/wire/views.ts'
import type {
  AttemptRecord,
  GateRecord,
  ViolationRecord,
  RunRecord,
  WaitRecord,
} from '../../store/port.ts'
import {
  type BlockedStepReason,
  describeStepOwner,
  whyWorkflow,
  whyNextWave,
} from './why-workflow.ts'
import { whyReady } from './why-ready.ts'
import type { ScheduleOrigin } from '../schedules/schedule-origin.ts'
import type { FollowerOfRun } from '../runs/follow-ups/trigger-of.ts'
import type { WorkflowStatus } from '../workflows/views/workflow-reader.ts'

/** What is known about a run when a user asks why it is in its state. */
export interface RunContext {
  readonly now: number
  /** False while this node may not assign work. */
  readonly mayPromise: boolean
  readonly lane: Lane | undefined
  readonly wait: WaitRecord | null
  /** The schedule that made it, if any. */
  readonly schedule: ScheduleOrigin | null
  /** The state of the workflow, if the run is one. */
  readonly workflow: WorkflowStatus | null
  /** What blocks its steps, if anything. */
  readonly blockedStep: BlockedStepReason | null
  /** The workflow step it belongs to, if any. */
  readonly step: StepIdentity | null
  /**
   * Runs that wait for each other, from the one it waits for to a workflow it belongs to; usually
   * empty.
   */
  readonly cycle: readonly number[]
  /** The end of another run that triggered it, if any. */
  readonly trigger: RunTrigger | null
  /** The jobs that follow this run, and the outcome for each. */
  readonly followers: readonly FollowerOfRun[]
  /** Earlier attempts that were lost, oldest first. */
  readonly lostAttempts: readonly AttemptRecord[]
  /** Expectations of it that were violated. */
  readonly violations: readonly ViolationRecord[]
  readonly workers: readonly WireWorker[]
  /**
   * Its worker has no session any more, but the attempt is not lost yet; `awaited` says what the
   * server waits for, if known.
   */
  readonly lostWorker: { readonly awaited: string | undefined } | null
  /** A worker of this node keeps its free slots for a run that needs more of them. */
  readonly isSlotReserved: boolean
  /** Why its queue is not served. */
  readonly paused: 'queue' | 'project' | null
  readonly rate: { readonly rate: Rate; readonly bucket: Bucket } | null
}

/** Everything except what the run itself says. */
type Explanation = Omit<WireWhy, 'progress'>

/** Why, further details, and what would change it. */
export interface Reason {
  readonly code: WhyCode
  readonly sentence: string
  readonly details?: readonly string[]
  readonly fixes?: readonly string[]
}

/** One sentence that explains the state of a run, and what would change it. Pure. */
export function explainRun(run: RunRecord, context: RunContext): Explanation {
  const { code, sentence, details: known = [], fixes = [] } = reasonForRun(run, context)
  const violations = context.violations.map((violation) =>
    describeExpectationViolation('It', violation),
  )
  const { trigger, followers } = context
  const whose = [
    ...describeStepOwner(context.step),
    ...describeOccurrence(context.schedule),
    ...whoseEnd(trigger),
  ]
  const losses = describeLosses(context.lostAttempts)
  const details = [...known, ...losses, ...whose, ...violations, ...followers.map(describeFollower)]
  return { run: publicId('run', run.id), state: run.state, code, sentence, details, fixes }
}

/** The same without origin, workflow and followers of the run. */
export function reasonForRun(run: RunRecord, context: RunContext): Reason {
  const id = publicId('run', run.id)
  const { now, wait } = context
  const waited = formatDuration(Math.max(0, now - run.createdAt))
  const { workflow, blockedStep } = context
  const workflowReason = workflow && whyWorkflow(run, { workflow, blockedStep, now })
  if (workflowReason) return workflowReason
  switch (run.state) {
    case 'scheduled':
      return whyScheduled(run, wait?.timerAt ?? run.dueAt ?? now, now)
    case 'blocked':
      return asDeadlock(
        context.cycle,
        whyAfter(wait?.after ?? [], waited) ??
          whyOverlapping(wait?.gate, context.schedule, waited) ??
          whyNextWave(wait?.gate, workflow, waited) ??
          whyBlocked(wait?.gate ?? null, waited),
      )
    case 'ready':
      return whyReady(waited, context)
    case 'running':
      return context.lostWorker
        ? whyAwaiting(run, context.lostWorker.awaited)
        : whyRunning(run, now)
    case 'succeeded':
      return { code: 'succeeded', sentence: `It succeeded${afterLosses(run)}.` }
    case 'failed': {
      const attempts = run.attempt === 1 ? '' : ` after ${run.attempt} attempts`
      const said = run.message === null ? lossOf(run) : `: ${run.message}`
      const fixes = [`punctual logs ${id}`, `punctual retry ${id}`]
      return { code: 'failed', sentence: `It failed${attempts}${said}.`, fixes }
    }
    case 'cancelled':
      return {
        code: 'cancelled',
        sentence: 'It was cancelled.',
        fixes: [`punctual retry ${id}`],
      }
    case 'skipped':
      return { code: 'skipped', sentence: 'It was skipped.' }
  }
}

/** It continues with another attempt. */
function afterLosses({ attempt, lost }: RunRecord): string {
  if (lost === 0) return ''
  const losses = lost === 1 ? '1 was lost with its worker' : `${lost} were lost with their workers`
  return ` with attempt ${attempt}, after ${losses}`
}

function lossOf({ cause, worker }: RunRecord): string {
  if (cause !== 'lost') return ''
  return `: ${worker === null ? 'its worker' : `the worker ${worker}`} was gone before it ended`
}

const MOST_LOSSES = 5

function describeLosses(lost: readonly AttemptRecord[]): string[] {
  const shown = lost.slice(-MOST_LOSSES).map(({ attempt, worker, finishedAt }) => {
    const who = worker === null ? 'its worker' : `the worker ${worker}`
    return `Attempt ${attempt} was lost at ${new Date(finishedAt).toISOString()}: ${who} was gone before it ended.`
  })
  const more = lost.length - shown.length
  return more === 0 ? shown : [`${more} earlier attempts were lost as well.`, ...shown]
}

/** The run is part of a deadlock, and the user has to know. */
function asDeadlock(cycle: readonly number[], because: Reason): Reason {
  if (cycle.length === 0) return because
  const ids = cycle.map((runId) => publicId('run', runId))
  const way = ids.slice(1).map((id, nth) => `${ids[nth]} waits for ${id}`)
  const text = [...way, `${ids.at(-1)} for this step of it`].join(', ')
  const details = [`They wait for each other, and will for ever: ${text}.`]
  return { ...because, details: [...(because.details ?? []), ...details] }
}

function whyScheduled({ id, attempt }: RunRecord, timerAt: number, now: number): Reason {
  const left = formatDuration(Math.max(0, timerAt - now))
  const fixes = [`punctual cancel ${publicId('run', id)}`]
  if (attempt === 1) {
    return { code: 'not_due', sentence: `It is not due yet: it starts in ${left}.`, fixes }
  }
  const sentence = `Attempt ${attempt - 1} failed; the next one starts in ${left}.`
  return { code: 'retry_back_off', sentence, fixes }
}

const OCCURRENCE_TEXTS: Readonly<Partial<Record<OccurrenceReason, string>>> = {
  made_up: ', caught up after it was missed',
  clock_set_back:
    ', by a clock that was ahead and has been set back: that time is void and fires again',
}

/** Which time of which schedule the run is for. */
function describeOccurrence(made: ScheduleOrigin | null): string[] {
  if (!made) return []
  const { schedule, nominalAt, reason, backfillId } = made
  const late = (reason && OCCURRENCE_TEXTS[reason]) ?? ''
  const by = backfillId === null ? late : `, made by the backfill ${publicId('bkf', backfillId)}`
  return [`It is the run of ${schedule} for ${new Date(nominalAt).toISOString()}${by}.`]
}

function whoseEnd(trigger: RunTrigger | null): string[] {
  return trigger
    ? [`It runs after ${trigger.run} of ${trigger.job}, which ${STATE_TEXTS[trigger.state]}.`]
    : []
}

const STATE_TEXTS = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
  skipped: 'was skipped',
} as const

function describeFollower({ job, run, reason }: FollowerOfRun): string {
  if (run !== null) return `${job} runs after it: ${run}.`
  if (reason === null) return `${job} is about to run after it.`
  return `${job} was to run after it, and did not: ${reason}.`
}

/** It enters its gates only when these runs have ended. */
function whyAfter(after: readonly number[], waited: string): Reason | null {
  const [first, ...others] = after.map((runId) => publicId('run', runId))
  if (first === undefined) return null
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const sentence = `It has waited ${waited} for ${first}${more} to end.`
  return { code: 'after', sentence, fixes: [`punctual why ${first}`] }
}

/** Runs of a schedule that must not overlap pass a gate of their own, which users need not know. */
function whyOverlapping(
  gate: GateRecord | null | undefined,
  made: ScheduleOrigin | null,
  waited: string,
): Reason | null {
  if (!gate || !made || !gate.name.endsWith(publicId('sch', made.scheduleId))) return null
  const [before] = gate.heldBy.map((runId) => publicId('run', runId))
  if (before === undefined) return null
  return {
    code: 'overlap',
    sentence: `It has waited ${waited} for ${before} to end: runs of ${made.schedule} do not overlap.`,
    fixes: [`punctual why ${before}`, `punctual cancel ${before}`],
  }
}

function whyBlocked(gate: GateRecord | null, waited: string): Reason {
  if (!gate || gate.holders < gate.capacity) {
    const sentence = `It has waited ${waited} at a concurrency key and is about to pass it.`
    return { code: 'passing', sentence }
  }
  const { name, capacity, holders } = gate
  const heldBy = gate.heldBy.map((runId) => publicId('run', runId))
  const others = holders > heldBy.length ? ` and ${holders - heldBy.length} more` : ''
  const many = capacity === 1 ? '1 run is' : `${capacity} runs are`
  return {
    code: 'key_taken',
    sentence: `It has waited ${waited}: ${many} allowed at once with the concurrency key ${name}.`,
    details: heldBy.length === 0 ? [] : [`Held by ${heldBy.join(', ')}${others}.`],
    fixes: heldBy.slice(0, 1).map((holder) => `punctual why ${holder}`),
  }
}

function whyAwaiting({ worker, attempt }: RunRecord, awaited: string | undefined): Reason {
  const who = worker === null ? 'a worker' : `the worker ${worker}`
  const until = awaited ?? 'the worker may still come back; the wait for it is about a minute'
  return {
    code: 'awaiting_worker',
    sentence: `Attempt ${attempt} ran on ${who}, whose server process is gone. It counts as lost when it is certain that it has ended.`,
    details: [`Waiting: ${until}.`],
    fixes: ['punctual doctor'],
  }
}

function whyRunning({ id, startedAt, attempt, lost, cancelling }: RunRecord, now: number): Reason {
  if (startedAt !== null && startedAt > now) {
    // A schedule fired it ahead of time, and its worker will get it in time.
    const left = formatDuration(startedAt - now)
    return { code: 'not_due', sentence: `It is not due yet: it starts in ${left}.` }
  }
  const ran = formatDuration(Math.max(0, now - (startedAt ?? now)))
  const recovered = lost === 0 ? '' : `, ${lost === 1 ? '1 was' : `${lost} were`} lost`
  const sentence = `It has been running for ${ran} (attempt ${attempt}${recovered}).`
  const fixes = [`punctual logs -f ${publicId('run', id)}`]
  if (!cancelling) return { code: 'running', sentence, fixes }
  return { code: 'stopping', sentence: `${sentence} It is being stopped.`, fixes }
}
