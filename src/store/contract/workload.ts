import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import { createMinter, type Minter } from '../../core/ids.ts'
import { WANTED_OUTCOMES } from '../../core/run/needs.ts'
import type { Cause } from '../../core/run/run-state.ts'
import type { Seeded } from '../../../test/sim/seeded.ts'
import type {
  CancelCommand,
  ClaimDemand,
  EndCommand,
  LanePosition,
  Lease,
  NewRun,
  TickBatch,
  TickResult,
} from '../port.ts'
import { endCommandFor, NO_OPTIONS } from './fixture.ts'

/** Commands in which projects, jobs, lanes, gates and nodes are indexes into each store's ids. */
export type WorkloadPlan = Omit<TickBatch, 'node'>

export type WorkloadMove =
  | { kind: 'tick'; plan: WorkloadPlan }
  | { kind: 'promote'; positions: readonly number[] }
  | { kind: 'recheck'; limit: number; recheckMs: number; runs: readonly number[] }
  | { kind: 'resize'; gate: number; capacity: number }

const SESSIONS = [1, 2, 3]
const LANES = 3
const JOBS = 2
/** Capacities of the gates the moves refer to. */
export const CAPACITIES = [1, 2, 3]

/** What a tick returned, as far as the next move depends on it. */
export interface TickReport {
  readonly answers: Pick<TickResult, 'submits' | 'ends'>
  readonly signals: TickResult['signals']
  readonly leases: readonly Lease[]
}

/**
 * A model of a caller that uses all operations of a store: moves are random, based on the answers
 * so far, and are the same for every store that gives the same answers.
 */
export interface WorkloadModel {
  nextMove(): WorkloadMove
  remember(plan: WorkloadPlan, report: TickReport): void
  /** Index of a run in the order of submission: the same for both stores. */
  ordinalOf(runId: number): number
  readonly ended: number
}

export function createWorkloadModel(chance: Seeded, now: () => number): WorkloadModel {
  const minter = createMinter({ slot: 0, floor: 0, now, random: chance.random })
  const submitted: NewRun[] = []
  const held = new Map<number, Pick<Lease, 'runId' | 'fence' | 'lost'>>()
  const over: { runId: number; fence: number }[] = []
  const ordinals = new Map<number, number>()
  const floors = new Map<number, LanePosition>()
  /** Runs whose needs emitted signals. */
  const signalled = new Set<number>()
  let ended = 0

  const planTick = (): WorkloadPlan => {
    // Two demands for one lane may be merged into one, so they use the same floor.
    const floorsNow = chance.chance(0.2) ? floors : new Map<number, LanePosition>()
    return {
      submits: some(chance, 4, () => submission(chance, minter, now(), submitted)),
      ends: some(chance, 3, () => ending(chance, minter, [...held.values()], over)).flat(),
      cancels: some(chance, 2, () => cancel(chance, submitted)).flat(),
      claims: some(chance, 3, () => demand(chance, floorsNow)),
    }
  }
  return {
    nextMove() {
      const kind = chance.weighted({ tick: 70, promote: 15, recheck: 10, resize: 5 })
      if (kind === 'tick') return { kind, plan: planTick() }
      if (kind === 'promote') return { kind, positions: some(chance, 5, () => minter.mint()) }
      if (kind === 'recheck') {
        const runs = [...signalled].filter(() => chance.chance(0.7))
        for (const runId of runs) signalled.delete(runId)
        return { kind, limit: chance.between(1, 5), recheckMs: 1_000, runs }
      }
      return { kind, gate: chance.int(CAPACITIES.length), capacity: chance.int(4) }
    },
    remember({ submits, ends }, { answers, leases, signals }) {
      for (const one of signals) if (one.kind === 'need') signalled.add(one.runId)
      for (const [index, run] of submits.entries()) {
        if (answers.submits[index]?.kind !== 'inserted') continue
        submitted.push(run)
        ordinals.set(run.id, ordinals.size)
        const isDue = run.dueAt === null || run.dueAt <= now()
        if (run.reservation && isDue)
          held.set(run.id, { runId: run.id, ...run.reservation, lost: 0 })
      }
      for (const [index, { runId, fence }] of ends.entries()) {
        if (answers.ends[index] !== 'ended') continue
        held.delete(runId)
        over.push({ runId, fence })
        ended += 1
      }
      for (const lease of leases) {
        held.set(lease.runId, lease)
        floors.set(lease.laneId, { rank: lease.rank, pos: lease.pos })
      }
    },
    ordinalOf: (runId) => ordinals.get(runId) ?? ordinals.size,
    get ended() {
      return ended
    },
  }
}

function some<T>(chance: Seeded, most: number, make: () => T): T[] {
  return Array.from({ length: chance.int(most + 1) }, make)
}

function submission(
  chance: Seeded,
  minter: Minter,
  nowMs: number,
  submitted: readonly NewRun[],
): NewRun {
  if (submitted.length > 0 && chance.chance(0.08)) return chance.pick(submitted)
  const gates = chance.chance(0.35)
    ? CAPACITIES.map((_, gate) => gate).filter(() => chance.chance(0.5))
    : []
  const dueAt = chance.chance(0.3) ? nowMs + chance.between(-500, 3_000) : null
  const isImmediate = gates.length === 0 && (dueAt === null || dueAt <= nowMs)
  const fence = fenceOf(1, drawSalt(chance.random))
  const until = nowMs + chance.between(1, 5_000)
  return {
    ...NO_OPTIONS,
    id: minter.mint(),
    projectId: chance.chance(0.9) ? 0 : 1,
    jobId: chance.int(JOBS),
    laneId: chance.int(LANES),
    rank: chance.between(-2, 2),
    dueAt,
    gates,
    ...followed(chance, submitted),
    input: `"${chance.int(1_000)}"`,
    timeoutMs: chance.chance(0.2) ? chance.between(1, 60_000) : null,
    dedupeKey: chance.chance(0.2) ? `key-${chance.int(6)}` : null,
    idempotency: chance.chance(0.2)
      ? { key: `key-${chance.int(6)}`, digest: chance.pick(['a', 'b']), until }
      : null,
    reservation:
      isImmediate && chance.chance(0.3) ? { session: chance.pick(SESSIONS), fence } : null,
  }
}

/** Some start after one or two others, not always of their own project. */
function followed(chance: Seeded, submitted: readonly NewRun[]): Pick<NewRun, 'after'> {
  if (submitted.length === 0 || !chance.chance(0.15)) return {}
  const needs = Array.from({ length: chance.between(1, 2) }, () => ({
    runId: chance.pick(submitted.slice(-12)).id,
    wants: chance.pick(WANTED_OUTCOMES),
  }))
  return { after: needs }
}

const FAILURES: readonly Cause[] = ['exit', 'signal', 'error', 'timeout', 'oom', 'start_error']

function ending(
  chance: Seeded,
  minter: Minter,
  held: readonly Pick<Lease, 'runId' | 'fence' | 'lost'>[],
  over: readonly { runId: number; fence: number }[],
): EndCommand[] {
  if (over.length > 0 && chance.chance(0.1)) return [endCommandFor(chance.pick(over))]
  if (held.length === 0) return []
  const lease = chance.pick(held)
  const { lost } = lease
  const cause = chance.pick(FAILURES)
  const report = {
    worker: `w${chance.int(3)}`,
    message: 'm',
    result: '1',
    pos: minter.mint(),
    lost,
  }
  const how = chance.weighted({ done: 5, failed: 2, later: 3, lost: 1, back: 1, stop: 1, stale: 1 })
  switch (how) {
    case 'done':
      return [endCommandFor(lease, report)]
    case 'failed':
      return [endCommandFor(lease, { ...report, to: 'failed', cause })]
    case 'later':
      return [
        endCommandFor(lease, { ...report, to: 'retry', cause, delayMs: chance.between(1, 2_000) }),
      ]
    case 'lost':
      return [endCommandFor(lease, { ...report, to: 'retry', cause: 'lost', lost: lost + 1 })]
    case 'back':
      return [endCommandFor(lease, { ...report, to: 'given_back', cause: 'cancelled' })]
    case 'stop':
      return [endCommandFor(lease, { ...report, to: 'cancelled', cause: 'cancelled' })]
    case 'stale':
      return [endCommandFor({ ...lease, fence: lease.fence + 1 }, report)]
  }
}

function cancel(chance: Seeded, submitted: readonly NewRun[]): CancelCommand[] {
  if (submitted.length === 0) return []
  const { id, projectId } = chance.pick(submitted)
  return [{ runId: id, projectId: chance.chance(0.9) ? projectId : 1 - projectId }]
}

function demand(chance: Seeded, floors: ReadonlyMap<number, LanePosition>): ClaimDemand {
  const sessions = some(chance, 4, () => chance.pick(SESSIONS))
  const salts = sessions.map(() => drawSalt(chance.random))
  const laneId = chance.int(LANES)
  return { laneId, sessions, salts, floor: floors.get(laneId) ?? null }
}
