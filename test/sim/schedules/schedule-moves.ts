import type { MissedPolicy } from '../../../src/core/schedule/firing/missed.ts'
import type { Overlap } from '../../../src/core/schedule/firing/overlap.ts'
import type { Seeded } from '../seeded.ts'
import { SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, type ScheduleWorld } from './schedule-world.ts'

/** Moves and their weights in a world without faults. */
const BASE_WEIGHTS = {
  put: 4,
  edit: 6,
  pause: 4,
  'pause-until': 2,
  resume: 8,
  skip: 3,
  delete: 1,
  'end-run': 15,
  'start-node': 4,
  nothing: 20,
}
const FAULTS = [
  'crash-node',
  'freeze-node',
  'cut-node',
  'lose-answers',
  'crash-worker',
  'freeze-worker',
  'set-clock-of-node',
  'set-clock-of-store',
  'outage',
] as const
export type ScheduleMove = keyof typeof BASE_WEIGHTS | (typeof FAULTS)[number]

export function drawScheduleMix({ seeded }: ScheduleWorld): Record<ScheduleMove, number> {
  const faults = FAULTS.map((fault) => [fault, seeded.chance(0.5) ? seeded.pick([1, 2, 4]) : 0])
  return { ...BASE_WEIGHTS, ...Object.fromEntries(faults) } as Record<ScheduleMove, number>
}

const MAX_NODES = 3
const MAX_SCHEDULES = 6
const HOUR_MS = 3_600_000

/** The overlap rule of a schedule never changes here; otherwise more runs could rightly be open than it allows. */
function overlapOf(name: string): Overlap {
  const kinds: Overlap[] = [
    { kind: 'allow' },
    { kind: 'skip' },
    { kind: 'queue', most: 1 },
    { kind: 'replace' },
    { kind: 'queue', most: 3 },
  ]
  return kinds[Number(name.slice(1)) % kinds.length] as Overlap
}

/** This does not change either: the due times of such a schedule cannot be counted. */
function isAfterFinish(name: string): boolean {
  return Number(name.slice(1)) % 3 === 1
}

function drawInput(seeded: Seeded, name: string) {
  const missed: Partial<MissedPolicy> = {
    kind: seeded.pick(['skip', 'latest', 'all'] as const),
    maxAgeMs: seeded.pick([60_000, HOUR_MS, 24 * HOUR_MS]),
    maxCount: seeded.between(1, 20),
    everyMs: seeded.pick([0, 0, 500]),
  }
  const every = isAfterFinish(name)
    ? `${seeded.pick([0, 1, 2, 10])}s after finish`
    : `${seeded.pick([1, 2, 3, 5, 10, 60])}s`
  const jitter = seeded.pick([0, 0, 300])
  return { rule: { every, jitter }, overlap: overlapOf(name), missed }
}

export function moveSchedules(world: ScheduleWorld, name: ScheduleMove): void {
  const { seeded, time, nodes, names } = world
  const any = () => (names.length > 0 ? seeded.pick(names) : 'r0')
  switch (name) {
    case 'put': {
      if (names.length >= MAX_SCHEDULES) return
      const rule = `r${names.length}`
      names.push(rule)
      return put(world, rule)
    }
    case 'edit':
      return put(world, any())
    case 'pause':
      return world.ask((on) =>
        on.pause(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, any(), { until: null, reason: null }),
      )
    case 'pause-until': {
      const until = time.clockOf(world.storeActor).now() + seeded.between(1_000, 60_000)
      return world.ask((on) =>
        on.pause(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, any(), { until, reason: null }),
      )
    }
    case 'resume':
      return world.ask((on) => on.resume(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, any()))
    case 'skip':
      return world.ask((on) => on.skipNext(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, any()))
    case 'delete':
      return world.ask((on) => on.remove(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, any()))
    case 'end-run':
      return world.endRun()
    case 'start-node':
      if (nodes.length < MAX_NODES) world.startNode()
      return
    case 'nothing':
      return
    case 'set-clock-of-store':
      world.storeActor.wallSkewMs += seeded.pick([
        -HOUR_MS,
        -5_000,
        -300,
        -20,
        300,
        5_000,
        HOUR_MS,
        26 * HOUR_MS,
      ])
      return
    default:
      break
  }
  if (name === 'crash-worker' || name === 'freeze-worker') return injectWorkerFault(world, name)
  if (nodes.length === 0) return
  const node = seeded.pick(nodes)
  switch (name) {
    case 'crash-node':
      if (nodes.length === 1) return
      node.actor.isAlive = false
      nodes.splice(nodes.indexOf(node), 1)
      return
    case 'freeze-node':
      node.actor.frozenUntilMs = time.nowMs + seeded.between(500, 60_000)
      return
    case 'cut-node':
      node.link.cutUntilMs = time.nowMs + seeded.between(500, 60_000)
      return
    case 'lose-answers':
      node.link.loseAnswers += seeded.between(1, 4)
      return
    case 'set-clock-of-node':
      node.actor.wallSkewMs += seeded.pick([-HOUR_MS, HOUR_MS, 24 * HOUR_MS])
      return
    case 'outage':
      for (const each of nodes) each.link.cutUntilMs = time.nowMs + seeded.between(20_000, 90_000)
  }
}

function injectWorkerFault(
  { seeded, time, workers, ...world }: ScheduleWorld,
  name: ScheduleMove,
): void {
  if (workers.length === 0) return
  const actor = seeded.pick(workers)
  if (name === 'freeze-worker') {
    actor.frozenUntilMs = time.nowMs + seeded.between(100, 30_000)
    return
  }
  actor.isAlive = false
  workers.splice(workers.indexOf(actor), 1)
  world.startWorker()
}

function put(world: ScheduleWorld, name: string): void {
  const input = drawInput(world.seeded, name)
  world.ask((on) => on.put(SIM_SCHEDULE_CALLER, SIM_SCHEDULE_JOB, name, input))
}
