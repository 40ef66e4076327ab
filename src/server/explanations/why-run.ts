import { formatDuration } from '../../core/text/duration.ts'
import type { StepPlace } from '../../core/workflow/step-views.ts'
import { publicId } from '../../core/ids.ts'
import type { Reason } from '../../core/schedule/firing/occurrence.ts'
import { lapseSentence } from '../../core/lapses/words.ts'
import type { Lane } from '../../core/queue/lane.ts'
import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { RunTrigger } from '../../core/wire/protocol.ts'
import type { WhyCode, WireWhy, WireWorker } from '../../core/wire/views.ts'
import type { GateRecord, LapseRecord, RunRecord, WaitRecord } from '../../store/port.ts'
import { type FlowStanding, type HeldUp, whoseStep, whyFlow, whyNextWave } from './why-workflow.ts'
import { whyReady } from './why-ready.ts'

/** What is known about a run's surroundings when somebody asks why. */
export interface Surroundings {
  readonly now: number
  /** False while this node may not give work to anybody. */
  readonly mayPromise: boolean
  readonly lane: Lane | undefined
  readonly wait: WaitRecord | null
  /** The schedule that made it, if one did. */
  readonly made: MadeBy | null
  /** If it is a workflow, how that stands. */
  readonly flow: FlowStanding | null
  /** What holds up its steps, if something does. */
  readonly heldUp: HeldUp | null
  /** The workflow it is a step of, if it is one. */
  readonly step: StepPlace | null
  /** Runs that wait for each other, from what it waits for to a workflow it is part of; most often none. */
  readonly circle: readonly number[]
  /** The end of another run that made it run, if one did. */
  readonly trigger: RunTrigger | null
  /** The jobs that were to run after it, and what came of that. */
  readonly followers: readonly FollowerOfRun[]
  /** What did not come true of what is expected of it. */
  readonly lapses: readonly LapseRecord[]
  readonly workers: readonly WireWorker[]
  /** A worker of this node keeps its free slots for a run that needs more of them. */
  readonly isRoomKept: boolean
  /** What keeps its queue from being served. */
  readonly paused: 'queue' | 'project' | null
  readonly rate: { readonly rate: Rate; readonly bucket: Bucket } | null
}

export interface FollowerOfRun {
  readonly job: string
  readonly run: string | null
  readonly reason: string | null
}

export interface MadeBy {
  readonly scheduleId: number
  /** `etl/nightly`, or its id if it is deleted. */
  readonly schedule: string
  readonly nominalAt: number
  readonly reason: Reason | null
  /** The backfill that made it, if it was not the schedule itself. */
  readonly backfillId: number | null
}

/** Everything but what the run says itself. */
type Explanation = Omit<WireWhy, 'progress'>

/** Why, what else is known, and what would change it. */
export interface Because {
  readonly code: WhyCode
  readonly sentence: string
  readonly details?: readonly string[]
  readonly fixes?: readonly string[]
}

/** One sentence that says why a run is where it is, and what would change that. Pure. */
export function explain(run: RunRecord, around: Surroundings): Explanation {
  const { code, sentence, details: known = [], fixes = [] } = reasonOf(run, around)
  const lapses = around.lapses.map((lapse) => lapseSentence('It', lapse))
  const { trigger, followers } = around
  const whose = [...whoseStep(around.step), ...whoseTime(around.made), ...whoseEnd(trigger)]
  const details = [...known, ...whose, ...lapses, ...followers.map(whatFollows)]
  return { run: publicId('run', run.id), state: run.state, code, sentence, details, fixes }
}

/** The same without what belongs to the run alone: whose it is, what made it, what follows it. */
export function reasonOf(run: RunRecord, around: Surroundings): Because {
  const id = publicId('run', run.id)
  const { now, wait } = around
  const waited = formatDuration(Math.max(0, now - run.createdAt))
  const { flow, heldUp } = around
  const ofFlow = flow && whyFlow(run, { flow, heldUp, now })
  if (ofFlow) return ofFlow
  switch (run.state) {
    case 'scheduled':
      return whyScheduled(run, wait?.timerAt ?? run.dueAt ?? now, now)
    case 'blocked':
      return forEver(
        around.circle,
        whyAfter(wait?.after ?? [], waited) ??
          whyOverlapping(wait?.gate, around.made, waited) ??
          whyNextWave(wait?.gate, flow, waited) ??
          whyBlocked(wait?.gate ?? null, waited),
      )
    case 'ready':
      return whyReady(waited, around)
    case 'running':
      return whyRunning(run, now)
    case 'succeeded':
      return { code: 'succeeded', sentence: 'It succeeded.' }
    case 'failed': {
      const attempts = run.attempt === 1 ? '' : ` after ${run.attempt} attempts`
      const said = run.message === null ? '' : `: ${run.message}`
      const fixes = [`punctual logs ${id}`, `punctual retry ${id}`]
      return { code: 'failed', sentence: `It failed${attempts}${said}.`, fixes }
    }
    case 'cancelled':
      return {
        ...{ code: 'cancelled', sentence: 'It was cancelled.' },
        fixes: [`punctual retry ${id}`],
      }
    case 'skipped':
      return { code: 'skipped', sentence: 'It was skipped.' }
  }
}

/** What it waits for waits for it, and somebody has to know. */
function forEver(circle: readonly number[], because: Because): Because {
  if (circle.length === 0) return because
  const ids = circle.map((runId) => publicId('run', runId))
  const way = ids.slice(1).map((id, nth) => `${ids[nth]} waits for ${id}`)
  const told = [...way, `${ids.at(-1)} for this step of it`].join(', ')
  const details = [`They wait for each other, and will for ever: ${told}.`]
  return { ...because, details: [...(because.details ?? []), ...details] }
}

function whyScheduled({ id, attempt }: RunRecord, timerAt: number, now: number): Because {
  const left = formatDuration(Math.max(0, timerAt - now))
  const fixes = [`punctual cancel ${publicId('run', id)}`]
  if (attempt === 1) {
    return { code: 'not_due', sentence: `It is not due yet: it starts in ${left}.`, fixes }
  }
  const sentence = `Attempt ${attempt - 1} failed; the next one starts in ${left}.`
  return { code: 'retry_back_off', sentence, fixes }
}

/** Which time of which schedule it is the run of. */
function whoseTime(made: MadeBy | null): string[] {
  if (!made) return []
  const { schedule, nominalAt, reason, backfillId } = made
  const late = reason === 'made_up' ? ', made up for after it was missed' : ''
  const by = backfillId === null ? late : `, made by the backfill ${publicId('bkf', backfillId)}`
  return [`It is the run of ${schedule} for ${new Date(nominalAt).toISOString()}${by}.`]
}

function whoseEnd(trigger: RunTrigger | null): string[] {
  return trigger
    ? [`It runs after ${trigger.run} of ${trigger.job}, which ${WAS[trigger.state]}.`]
    : []
}

const WAS = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
  skipped: 'was skipped',
} as const

function whatFollows({ job, run, reason }: FollowerOfRun): string {
  if (run !== null) return `${job} runs after it: ${run}.`
  if (reason === null) return `${job} is about to run after it.`
  return `${job} was to run after it, and did not: ${reason}.`
}

/** It comes to its gates only when these have ended. */
function whyAfter(after: readonly number[], waited: string): Because | null {
  const [first, ...others] = after.map((runId) => publicId('run', runId))
  if (first === undefined) return null
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const sentence = `It has waited ${waited} for ${first}${more} to end.`
  return { code: 'after', sentence, fixes: [`punctual why ${first}`] }
}

/** Runs of a schedule that must not overlap pass a gate of their own, which nobody has to know of. */
function whyOverlapping(
  gate: GateRecord | null | undefined,
  made: MadeBy | null,
  waited: string,
): Because | null {
  if (!gate || !made || !gate.name.endsWith(publicId('sch', made.scheduleId))) return null
  const [before] = gate.heldBy.map((runId) => publicId('run', runId))
  if (before === undefined) return null
  return {
    code: 'overlap',
    sentence: `It has waited ${waited} for ${before} to end: runs of ${made.schedule} do not overlap.`,
    fixes: [`punctual why ${before}`, `punctual cancel ${before}`],
  }
}

function whyBlocked(gate: GateRecord | null, waited: string): Because {
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

function whyRunning({ id, startedAt, attempt, cancelling }: RunRecord, now: number): Because {
  if (startedAt !== null && startedAt > now) {
    // A schedule fired it ahead, and its worker will be told in time.
    const left = formatDuration(startedAt - now)
    return { code: 'not_due', sentence: `It is not due yet: it starts in ${left}.` }
  }
  const ran = formatDuration(Math.max(0, now - (startedAt ?? now)))
  const sentence = `It has been running for ${ran} (attempt ${attempt}).`
  const fixes = [`punctual logs -f ${publicId('run', id)}`]
  if (!cancelling) return { code: 'running', sentence, fixes }
  return { code: 'stopping', sentence: `${sentence} It was told to stop.`, fixes }
}
