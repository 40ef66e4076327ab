import {
  type BackfillSpec,
  timesAfter,
  timesWithin,
} from '../../../core/schedule/backfill/backfill.ts'
import { PunctualError } from '../../../core/errors.ts'
import { publicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import { localTime } from '../../../core/schedule/local-time.ts'
import type { Submission } from '../../../core/wire/protocol.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type {
  BackfillTransition,
  BackfillRecord,
  BackfillStore,
  NewRun,
  ScheduleStore,
} from '../../../store/port.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import type { LoopStep } from '../../loops/run-loop.ts'
import type { RuleCache } from '../rule-cache.ts'
import type { DraftRuns } from '../../runs/draft-runs.ts'
import { type PastStore, wantedAmong } from './past-times.ts'

/** Maximum number of backfills handled in one step, and of times per backfill. */
const AT_ONCE = 20
const TIMES_AT_ONCE = 200
const RUNS_AT_ONCE = 50
/** How soon a node checks again whether runs have ended. */
const POLL_MS = 1_000
const MINUTE_MS = 60_000

export interface BackfillDeps {
  readonly store: PastStore &
    Pick<BackfillStore, 'openBackfills' | 'advanceBackfill'> &
    Pick<ScheduleStore, 'findSchedules'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'projectName' | 'learnNames'>
  readonly rules: RuleCache
  readonly draft: DraftRuns
  node(): number
  storeNow(): number
  mayFire(): boolean
  readonly signals: Pick<NodeSignals, 'lanesReady' | 'runsChanged'>
}

/**
 * Advances backfills, whichever node began them. The state of a backfill is in the store, and
 * advancing it makes its runs in the same transaction. When several nodes try, one succeeds.
 */
export function continueBackfills(deps: BackfillDeps): LoopStep {
  const { store, storeNow } = deps

  const advance = async (backfill: BackfillRecord): Promise<void> => {
    const move = await plan(backfill, deps)
    const isIdle = move.state === 'running' && move.runs.length === 0 && move.passed === 0
    const isSame = isIdle && move.openRuns.length === backfill.openRuns.length
    // Nothing has happened: checking again costs less than storing that.
    if (isSame) return
    const done = await store.advanceBackfill(move)
    if (!done || move.runs.length === 0) return
    deps.signals.lanesReady(done.lanes)
    deps.signals.runsChanged(move.runs.map(({ run }) => run.id))
  }

  return async () => {
    if (!deps.mayFire()) return { more: false }
    const due = await store.openBackfills({ until: storeNow(), limit: AT_ONCE })
    for (const backfill of due) await advance(backfill)
    return { more: false, idleMs: POLL_MS }
  }
}

async function plan(backfill: BackfillRecord, deps: BackfillDeps): Promise<BackfillTransition> {
  const { store, rules, storeNow } = deps
  const { id, version, scheduleId } = backfill
  const spec = JSON.parse(backfill.spec) as BackfillSpec
  const runs = await store.findRuns({ runIds: backfill.openRuns })
  const open = runs.filter(({ state }) => !isFinal(state)).map((run) => run.id)
  const now = storeNow()
  const base = {
    node: deps.node(),
    id,
    version,
    processedUntil: backfill.processedUntil,
    checkAt: now,
    openRuns: open,
    passed: 0,
    error: null,
    runs: [],
  } as const
  const parsed = rules(spec.schedule)
  if (!parsed.ok) return { ...base, state: 'failed', error: parsed.error }
  const all = timesWithin(parsed.times, spec.from, spec.until, LIMITS.backfillTimes) ?? []
  const left = timesAfter(all, spec.order, backfill.processedUntil)
  if (left.length === 0) return { ...base, state: open.length === 0 ? 'done' : 'running' }
  const remaining = Math.min(
    spec.maxParallel - open.length,
    spec.perMinute ?? Infinity,
    RUNS_AT_ONCE,
  )
  if (remaining <= 0) return { ...base, state: 'running' }
  const examined = left.slice(0, TIMES_AT_ONCE)
  const wanted = await wantedAmong(store, scheduleId, examined, spec.which)
  const times = examined.filter((at) => wanted.has(at)).slice(0, remaining)
  // Up to the last time that gets a run; if all wanted times do, also the skipped ones after it.
  const isAll = times.length === wanted.size
  const place = (isAll ? examined.at(-1) : times.at(-1)) as number
  const passed = examined.indexOf(place) + 1 - times.length
  const made = await draftRuns(backfill, spec, times, deps)
  if (made instanceof PunctualError) return { ...base, state: 'failed', error: made.message }
  const pauseMs = spec.perMinute === null ? 0 : (times.length * MINUTE_MS) / spec.perMinute
  return {
    ...base,
    state: 'running',
    processedUntil: place,
    passed,
    checkAt: Math.ceil(now + pauseMs),
    openRuns: [...open, ...made.map((run) => run.id)],
    runs: made.map((run, index) => {
      const nominalAt = times[index] as number
      return { nominalAt, run: { ...run, dueAt: nominalAt } }
    }),
  }
}

/** Runs like those of the schedule, with a priority below everything else. */
async function draftRuns(
  { id, scheduleId, projectId, createdBy }: BackfillRecord,
  { schedule: text, priority }: BackfillSpec,
  times: readonly number[],
  { store, catalog, rules, draft }: BackfillDeps,
): Promise<NewRun[] | PunctualError> {
  if (times.length === 0) return []
  const [schedule] = await store.findSchedules([scheduleId])
  if (!schedule) return new PunctualError('schedule_not_found', 'the schedule was deleted')
  await catalog.learnNames([schedule.jobId], [projectId])
  const parsed = rules(text)
  const { input, rule } = parsed.ok ? parsed.spec : {}
  const submission: Submission = {
    job: catalog.jobName(schedule.jobId),
    ...(input === undefined ? {} : { input }),
    priority,
    tags: { backfill: publicId('bkf', id), schedule: schedule.name },
  }
  try {
    const zone = rule?.zone ?? 'UTC'
    const asked = times.map((at) => ({ ...submission, scheduledAt: localTime(at, zone) }))
    return await draft(asked, catalog.projectName(projectId), createdBy)
  } catch (error) {
    if (error instanceof PunctualError && error.status < 500) return error
    throw error
  }
}
