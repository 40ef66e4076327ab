import { sendInHalves } from '../../loops/send-in-halves.ts'
import { canFireEarly } from '../../../core/schedule/firing/early-firing.ts'
import {
  type FireCommand,
  type FireResult,
  type ScheduleRecord,
  type ScheduleStore,
  StoreError,
} from '../../../store/port.ts'
import type { AssignDirectly } from '../../dispatch/direct-assignment.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import type { DueSchedules } from './due-schedules.ts'
import { afterFire, type FiringResult, runsOf } from './firing-result.ts'

/**
 * A plan uses this node's estimate of the store's clock; at a time too far from it the plan is
 * void.
 */
const VALID_AFTER_MS = 10_000
const VALID_BEFORE_MS = 1_000
/** How long a schedule is left alone whose run the store refuses. */
const REFUSED_MS = 60_000

export interface FiringSenderDeps {
  readonly store: Pick<ScheduleStore, 'fire' | 'failSchedule'>
  readonly assignDirectly: AssignDirectly
  node(): number
  storeNow(): number
  /** The store's clock keeps jumping, and the node goes by its own time. */
  isClockOff(): boolean
  readonly signals: Pick<NodeSignals, 'lanesReady' | 'runsChanged'>
  readonly metrics: Pick<Metrics, 'onOccurrences' | 'onScheduleLag'>
  onError(error: unknown): void
}

/** The time as of which schedules fire; `isAhead`: that time has not come yet. */
export interface FireTime {
  readonly at: number
  readonly isAhead: boolean
}
export type PlannedFiring = readonly [ScheduleRecord, FireCommand]
type CompletedFiring = readonly [...PlannedFiring, FiringResult]

/** Fires schedules in the store, and gives their runs to workers. */
export type SendFirings = (planned: readonly PlannedFiring[], when: FireTime) => Promise<void>

export function createFiringSender(due: DueSchedules, deps: FiringSenderDeps): SendFirings {
  const { store, onError } = deps

  /** Postpones firings whose outcome may differ at their time, or whose run no worker waits for. */
  const putOffUnsure = (firings: readonly PlannedFiring[]): PlannedFiring[] => {
    const { sure = [], unsure = [] } = Object.groupBy(firings, ([, command]) =>
      canFireEarly(command) ? 'sure' : 'unsure',
    )
    for (const [schedule] of unsure) due.putOff(schedule)
    return sure
  }

  /**
   * A schedule that the store refuses for an unknown reason must not keep the others from firing.
   */
  const send: SendFirings = async (planned, when) => {
    const promised = deps.assignDirectly(planned.flatMap(([, command]) => runsOf(command)))
    const firings = when.isAhead ? putOffUnsure(planned) : planned
    if (firings.length === 0) return promised.failed(false)
    const { at } = when
    const valid = { validFrom: at - VALID_BEFORE_MS, validUntil: at + VALID_AFTER_MS }
    const commands = firings.map(([, command]) => command)
    const aheadTo = when.isAhead ? at : null
    const isClockOff = deps.isClockOff()
    const firing = store.fire({ node: deps.node(), ...valid, isClockOff, aheadTo, commands })
    const result = await firing.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.failed(outcome === 'unknown')
      if (outcome !== 'refused') throw error
      return error as StoreError
    })
    if (!(result instanceof StoreError)) {
      const delivered = promised.committed(result.started, result.now, result.aheadMs)
      const completed = apply(result, firings)
      // Workers first.
      void delivered.then(nextTurn).then(() => report(completed, result.cancelled, deps))
    } else if (firings.length === 1) {
      onError(result)
      const [{ id, version }] = firings[0] as PlannedFiring
      const error = `the store refused it: ${result.message}`
      await store.failSchedule({ id, version, error, checkAt: at + REFUSED_MS })
    } else {
      await sendInHalves(firings, (half) => send(half, when))
    }
  }

  /** Applies the answers; returns the schedules that fired. */
  const apply = (
    { verdicts, lanes }: FireResult,
    firings: readonly PlannedFiring[],
  ): CompletedFiring[] => {
    if (lanes.length > 0) deps.signals.lanesReady(lanes)
    const completed: CompletedFiring[] = []
    for (const [index, verdict] of verdicts.entries()) {
      const [schedule, command] = firings[index] as PlannedFiring
      if (verdict.kind === 'done') {
        completed.push([schedule, command, verdict])
        due.fired(afterFire(schedule, command, verdict))
      } else if (verdict.kind === 'early') due.putOff(schedule)
      else if (verdict.kind === 'outdated') due.retry(schedule)
      else due.lostRace(schedule)
    }
    return completed
  }

  return send
}

/** Reports outcomes, lateness, and the runs that are new or were cancelled. */
function report(
  completed: readonly CompletedFiring[],
  cancelled: readonly number[],
  { storeNow, signals, metrics }: FiringSenderDeps,
): void {
  const now = storeNow()
  const runIds: number[] = [...cancelled]
  for (const [{ next: was }, { settled }, { outcomes }] of completed) {
    for (const { id } of runsOf({ settled })) runIds.push(id)
    const others = settled.flatMap((time) => (time.kind === 'none' ? [time.outcome] : []))
    if (settled.length > 0) metrics.onOccurrences([...others, ...outcomes])
    if (outcomes[0] === 'fired' && was.checkAt !== null)
      metrics.onScheduleLag(Math.max(0, now - was.checkAt))
  }
  if (runIds.length > 0) signals.runsChanged(runIds)
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
