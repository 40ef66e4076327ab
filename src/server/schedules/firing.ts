import { mayGoAhead } from '../../core/schedule/firing/early-firing.ts'
import type { Outcome } from '../../core/schedule/firing/occurrence.ts'
import {
  type FireCommand,
  type FireResult,
  type RunRecord,
  type ScheduleRecord,
  type Store,
  StoreError,
} from '../../store/port.ts'
import type { Outcome as StepOutcome } from '../loops/run-loop.ts'
import type { HandOver } from '../dispatch/direct-assignment.ts'
import type { DraftTimes } from './draft-times.ts'
import { afterFire, type Fired, runsOf } from './firing-result.ts'
import { createLookAhead } from './due-reader.ts'
import { createNextBatch } from './next-batch.ts'
import { planSchedule, remembers } from './plan-schedule.ts'
import { createPrepared, PREPARE_MS } from './prepared-firings.ts'
import type { RuleBook } from './rule-cache.ts'
import { createWindow, type Entry } from './due-window.ts'

/** Thought out in one go: not so many that one which is due meanwhile would notice. */
const PREPARE = 100
/** A plan is made by this node's idea of the store's clock; at another time by the clock itself it is void. */
const VALID_AFTER_MS = 10_000
const VALID_BEFORE_MS = 1_000
/** After a failure of the store, and where two clocks differ by a little. */
const RETRY_MS = 500
const EARLY_MS = 2
/** Who fired one that is another's goes on with it, a little behind: as soon as its owner is there, it wins. */
const BEHIND_MS = 20
/** Somebody else was at it: long enough for that to be over. */
const LOST_MS = 50
/** How long a rule that cannot be read is left alone, and one whose run the store does not take. */
const UNREADABLE_MS = 3_600_000
const REFUSED_MS = 60_000
const LONGEST_NAP_MS = 1_000

export interface FiringDeps {
  readonly store: Pick<
    Store,
    | 'fire'
    | 'dueSchedules'
    | 'findSchedules'
    | 'schedulesFollowing'
    | 'failSchedule'
    | 'findRuns'
    | 'liveNodes'
  >
  readonly rules: RuleBook
  readonly draftTimes: DraftTimes
  readonly handOver: HandOver
  node(): number
  /** A clock that only runs on, for durations. */
  mono(): number
  storeNow(): number
  mintId(): number
  /** Whether this node is in touch with the store: only then are ids and clock its own. */
  mayFire(): boolean
  /** There is something to do. */
  wake(): void
  /** Lanes have work. */
  onReady(lanes: readonly number[]): void
  /** Runs that are there now, or have changed. */
  onRuns(runIds: readonly number[]): void
  onOutcomes(outcomes: readonly Outcome[]): void
  /** How long after it should one fired that was in time. */
  onLag(ms: number): void
  onError(error: unknown): void
}

export interface Firing {
  /** Fires what is due, as much as goes into one transaction. */
  step(): Promise<StepOutcome>
  /** People changed these here, and they may be due before anybody looks again. */
  changed(ids: readonly number[]): void
  /** A run that may belong to a schedule has ended. */
  ended(runId: number): void
  /** This node was away: what it remembers is worth nothing. */
  forget(): void
}

/** `isAhead`: that time has not come. */
interface When {
  readonly at: number
  readonly isAhead: boolean
}
type Planned = readonly [ScheduleRecord, FireCommand]
type Done = readonly [...Planned, Fired]

export function createFiring(deps: FiringDeps): Firing {
  const { store, rules, storeNow, onError } = deps
  const window = createWindow()
  const ahead = createLookAhead({ store, window, node: deps.node })
  const prepared = createPrepared(deps.mintId)
  const toRead = new Set<number>()
  /** The same, but not yet. */
  const lost = new Set<number>()
  let lostAt = 0
  const endedRuns = new Set<number>()
  const next = createNextBatch({ window, storeNow })

  const keep = (schedule: ScheduleRecord, isOthers = false) => {
    const { lookAt } = schedule.next
    if (lookAt === null || !ahead.isNear(lookAt)) return
    window.put(schedule, isOthers ? lookAt + BEHIND_MS : lookAt, isOthers)
  }

  /** What people did here, what followed runs that ended, and what others may have done. */
  const catchUp = async () => {
    if (endedRuns.size > 0) {
      const ids = await withAll(endedRuns, (runIds) => store.schedulesFollowing(runIds))
      for (const id of ids) toRead.add(id)
    }
    if (lost.size > 0 && storeNow() >= lostAt) for (const id of takeAll(lost)) toRead.add(id)
    if (toRead.size === 0) return
    for (const schedule of await withAll(toRead, (ids) => store.findSchedules(ids))) {
      const { nominalAt, lookAt } = schedule.next
      const isFollowing = nominalAt === null && lookAt !== null && schedule.pause === null
      if (isFollowing) window.put(schedule, storeNow(), true)
      else keep(schedule)
    }
  }

  /** `now`: the time as of which they fire. */
  const fireDue = async (entries: readonly Entry[], when: When): Promise<void> => {
    const { at: now } = when
    const schedules = entries.map(({ schedule }) => schedule)
    const known = new Map(
      schedules.map((schedule) => [schedule, prepared.take(schedule, now)] as const),
    )
    const unknown = schedules.filter((schedule) => !known.get(schedule))
    const planned = unknown.length > 0 ? await plan(unknown, () => now) : new Map()
    const commands = new Map<ScheduleRecord, FireCommand>()
    for (const schedule of schedules) {
      const command = known.get(schedule) ?? planned.get(schedule)
      if (typeof command === 'string') await fail(schedule, command, now + UNREADABLE_MS)
      else commands.set(schedule, command)
    }
    await send([...commands], when)
  }

  /** What shall become of schedules when they are looked at; or why that cannot be said. */
  const plan = async (
    schedules: readonly ScheduleRecord[],
    timeOf: (schedule: ScheduleRecord) => number,
  ): Promise<Map<ScheduleRecord, FireCommand | string>> => {
    const runs = await findOpen(schedules)
    const results = new Map<ScheduleRecord, FireCommand | string>()
    const plans = schedules.flatMap((schedule) => {
      const understood = rules(schedule.spec)
      if (!understood.ok) {
        results.set(schedule, understood.error)
        return []
      }
      const now = timeOf(schedule)
      const { planned, next } = planSchedule(schedule, understood, now, (runId) => runs.get(runId))
      const { spec, times } = understood
      return [{ schedule, spec, times, planned, next, remembers: remembers(understood) }]
    })
    const settled = await deps.draftTimes(plans)
    for (const [index, { schedule, spec, ...plan }] of plans.entries()) {
      results.set(schedule, {
        id: schedule.id,
        version: schedule.version,
        nominalAt: schedule.next.nominalAt,
        settled: settled[index] ?? [],
        next: plan.next,
        overlap: spec.overlap,
        remembers: plan.remembers,
      })
    }
    return results
  }

  /** Thinks out some of those that are due soon; says whether there were any. */
  const prepareSome = async (): Promise<boolean> => {
    const soon = window.upcoming(storeNow() + PREPARE_MS, PREPARE)
    if (soon.length === 0) return false
    const schedules = soon.map(({ schedule }) => schedule).filter(prepared.wants)
    // One that cannot be prepared is none the worse for it, and is heard of when its time has come.
    const plans = await plan(schedules, ({ next }) => next.lookAt as number).catch(() => new Map())
    for (const schedule of schedules) {
      const command = plans.get(schedule)
      prepared.keep(schedule, typeof command === 'object' ? command : null)
    }
    return true
  }

  /** What may come out otherwise at its time, or has nobody who waits for it, is left until then. */
  const putOffUnsure = (firings: readonly Planned[]): Planned[] => {
    const { sure = [], unsure = [] } = Object.groupBy(firings, ([, command]) =>
      mayGoAhead(command) ? 'sure' : 'unsure',
    )
    for (const [schedule] of unsure) putOff(schedule)
    return sure
  }

  /** One that the store refuses, nobody knows why, must not keep the others from firing. */
  const send = async (planned: readonly Planned[], when: When): Promise<void> => {
    const promised = deps.handOver(planned.flatMap(([, command]) => runsOf(command)))
    const firings = when.isAhead ? putOffUnsure(planned) : planned
    if (firings.length === 0) return promised.broken(false)
    const { at } = when
    const valid = { validFrom: at - VALID_BEFORE_MS, validUntil: at + VALID_AFTER_MS }
    const commands = firings.map(([, command]) => command)
    const aheadTo = when.isAhead ? at : null
    const firing = store.fire({ node: deps.node(), ...valid, aheadTo, commands })
    const result = await firing.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.broken(outcome === 'unknown')
      if (outcome !== 'refused') throw error
      return error as StoreError
    })
    if (!(result instanceof StoreError)) {
      const handedOver = promised.kept(result.started, result.now, result.aheadMs)
      const tell = apply(result, firings)
      // Workers first.
      void handedOver.then(nextTurn).then(tell)
    } else if (firings.length === 1) {
      onError(result)
      const why = `the store refused it: ${result.message}`
      await fail((firings[0] as Planned)[0], why, at + REFUSED_MS)
    } else {
      const half = Math.ceil(firings.length / 2)
      await send(firings.slice(0, half), when)
      await send(firings.slice(half), when)
    }
  }

  /** Its time has not come: by another clock, or because it cannot be done ahead. */
  const putOff = (schedule: ScheduleRecord, { nominalAt, lookAt } = schedule.next) =>
    window.put(schedule, Math.max(storeNow() + EARLY_MS, (nominalAt && lookAt) ?? 0), true)

  /** Answers with what is left to do when workers have been told. */
  const apply = (
    { verdicts, lanes, cancelled }: FireResult,
    firings: readonly Planned[],
  ): (() => void) => {
    if (lanes.length > 0) deps.onReady(lanes)
    const done: Done[] = []
    for (const [index, verdict] of verdicts.entries()) {
      const [schedule, command] = firings[index] as Planned
      if (verdict.kind === 'done') {
        done.push([schedule, command, verdict])
        keep(afterFire(schedule, command, verdict), !ahead.isOurs(schedule.id))
      } else if (verdict.kind === 'early') putOff(schedule)
      else if (verdict.kind === 'outdated') window.put(schedule, storeNow() + RETRY_MS)
      else if (ahead.isOurs(schedule.id)) {
        lost.add(schedule.id)
        lostAt = storeNow() + LOST_MS
      }
    }
    return () => tell(done, cancelled)
  }

  const tell = (done: readonly Done[], cancelled: readonly number[]) => {
    const now = storeNow()
    const runIds: number[] = [...cancelled]
    for (const [{ next: was }, { settled }, { outcomes }] of done) {
      for (const { id } of runsOf({ settled })) runIds.push(id)
      const others = settled.flatMap((time) => (time.kind === 'none' ? [time.outcome] : []))
      if (settled.length > 0) deps.onOutcomes([...others, ...outcomes])
      if (outcomes[0] === 'fired' && was.lookAt !== null) deps.onLag(Math.max(0, now - was.lookAt))
    }
    if (runIds.length > 0) deps.onRuns(runIds)
  }

  const fail = async (
    { id, version }: ScheduleRecord,
    error: string,
    lookAt: number,
  ): Promise<void> => {
    await store.failSchedule({ id, version, error, lookAt })
  }

  const findOpen = async (
    schedules: readonly ScheduleRecord[],
  ): Promise<ReadonlyMap<number, RunRecord>> => {
    const runIds = schedules.flatMap(({ next, openRuns }) =>
      next.nominalAt === null ? openRuns : [],
    )
    if (runIds.length === 0) return new Map()
    const runs = await store.findRuns({ runIds })
    return new Map(runs.map((run) => [run.id, run]))
  }

  return {
    async step() {
      if (!deps.mayFire()) return { more: false, idleMs: LONGEST_NAP_MS }
      await ahead.look(storeNow())
      await catchUp()
      const begunMono = deps.mono()
      const { due, ...when } = next.take()
      try {
        if (due.length > 0) await fireDue(due, when)
      } catch (error) {
        // Whether it happened or not, the store knows: whoever tries again finds out.
        for (const { schedule } of due) window.put(schedule, storeNow() + RETRY_MS)
        throw error
      }
      // Those that have just fired are claimed before the store is asked for more.
      if (due.length > 0) await nextTurn()
      next.took(due.length, deps.mono() - begunMono)
      const hasPrepared = due.length === 0 && (await prepareSome())
      const now = storeNow()
      const dueAt = next.beginAt()
      const nextAt = Math.min(dueAt, ahead.nextAt, lost.size > 0 ? lostAt : dueAt)
      const more = due.length > 0 || hasPrepared || toRead.size > 0 || dueAt <= now
      return { more, idleMs: Math.min(LONGEST_NAP_MS, Math.max(1, nextAt - now)) }
    },

    changed(ids) {
      for (const id of ids) toRead.add(id)
      deps.wake()
    },
    ended(runId) {
      endedRuns.add(runId)
      deps.wake()
    },
    forget() {
      window.clear()
      ahead.forget()
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What somebody was asked for in vain is to be asked for again. */
async function withAll<T, Answer>(
  set: Set<T>,
  ask: (all: readonly T[]) => Promise<Answer>,
): Promise<Answer> {
  const all = takeAll(set)
  try {
    return await ask(all)
  } catch (error) {
    for (const one of all) set.add(one)
    throw error
  }
}

function takeAll<T>(set: Set<T>): T[] {
  const all = [...set]
  set.clear()
  return all
}
