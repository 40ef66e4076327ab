import { publicId } from '../../src/core/ids.ts'
import type { Submission } from '../../src/core/wire/protocol.ts'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import { FAULTS, type FaultName } from './coverage.ts'
import type { SimNode } from './sim-node.ts'
import { SIM_JOBS, jobKindOf } from './sim-worker.ts'
import type { Actor } from './virtual-time.ts'
import { cutKey, type SimWorld } from './sim-world.ts'

export type Move =
  | 'submit'
  | 'finish'
  | 'fail'
  | 'cancel'
  | 'start-node'
  | 'start-worker'
  | FaultName

const BASE_WEIGHTS: Record<Move, number> = {
  submit: 30,
  finish: 25,
  fail: 6,
  cancel: 4,
  'start-node': 4,
  'start-worker': 6,
  'crash-worker': 0,
  'crash-node': 0,
  'freeze-worker': 0,
  'freeze-node': 0,
  'cut-node-from-store': 0,
  'cut-worker-from-node': 0,
  'commit-then-error': 0,
  'jump-clock': 0,
  'long-outage': 0,
  drop: 0,
  repeat: 0,
  delay: 0,
}

/** Every seed draws its own weights: a few faults often find what all faults at once hide. */
export function drawMix(world: SimWorld): Record<Move, number> {
  const { seeded } = world
  const mix = { ...BASE_WEIGHTS }
  for (const fault of FAULTS) {
    if (seeded.chance(0.5)) mix[fault] = seeded.pick([1, 2, 5])
  }
  mix['long-outage'] = Math.min(1, mix['long-outage'])
  return mix
}

const MAX_NODES = 3
const MAX_WORKERS = 4

export function move(world: SimWorld, name: Move): void {
  const { seeded, time, truth } = world
  const nodes = world.nodes.filter((node) => node.actor.isAlive)
  const workers = world.workers.filter((worker) => worker.actor.isAlive)
  const attempts = workers
    .filter((worker) => worker.actor.frozenUntilMs <= time.nowMs)
    .flatMap((worker) => [...worker.running.values()])

  switch (name) {
    case 'submit':
      if (nodes.length > 0) world.submit(drawSubmission(world))
      return
    case 'finish':
      if (attempts.length > 0) seeded.pick(attempts).succeed()
      return
    case 'fail':
      if (attempts.length > 0) seeded.pick(attempts).fail()
      return
    case 'cancel': {
      const runs = [...truth.submissions.values()].flatMap(({ runId }) => runId ?? [])
      const runId = runs.length > 0 ? seeded.pick(runs.slice(-20)) : undefined
      if (runId !== undefined && nodes.length > 0) world.cancel(runId, publicId('run', runId))
      return
    }
    case 'start-node':
      if (nodes.length < MAX_NODES) world.startNode()
      return
    case 'start-worker':
      if (workers.length < MAX_WORKERS) world.startWorker()
      return
    default:
      injectFault(world, name, nodes)
  }
}

/** Switches a message fault on or off, so that faults come in phases. */
function toggleMessageFault(world: SimWorld, fault: 'drop' | 'repeat' | 'delay'): void {
  world.messageFaults[fault] =
    world.messageFaults[fault] > 0 ? 0 : world.seeded.pick([0.05, 0.2, 0.5])
}

function injectFault(world: SimWorld, fault: FaultName, nodes: readonly SimNode[]): void {
  const { seeded, time } = world
  const workers = world.workers.filter((worker) => worker.actor.isAlive)
  if (fault === 'drop' || fault === 'repeat' || fault === 'delay')
    return toggleMessageFault(world, fault)
  if (nodes.length === 0 || workers.length === 0) return
  const node = seeded.pick(nodes)
  const worker = seeded.pick(workers)
  world.recordFault(fault)
  switch (fault) {
    case 'crash-worker':
      worker.actor.isAlive = false
      return
    case 'crash-node':
      if (nodes.length === 1 && seeded.chance(0.7)) return
      node.actor.isAlive = false
      world.nodes.splice(world.nodes.indexOf(node), 1)
      return
    case 'freeze-worker':
      freeze(world, worker.actor)
      for (const key of worker.running.keys()) worker.frozenSinceStart.add(key)
      return
    case 'freeze-node':
      freeze(world, node.actor)
      markAway(world, node, node.actor.frozenUntilMs)
      return
    case 'cut-node-from-store':
      cutFromStore(world, node, seeded.between(500, 50_000))
      return
    case 'cut-worker-from-node': {
      const key = cutKey(worker.actor, node.actor)
      world.cuts.add(key)
      time.after(time.actor('healer'), seeded.between(500, 30_000), () => world.cuts.delete(key))
      return
    }
    case 'commit-then-error':
      node.link.loseAnswers += seeded.between(1, 3)
      return
    case 'jump-clock':
      seeded.pick([node, worker]).actor.wallSkewMs += seeded.pick([
        -3_600_000, 3_600_000, 86_400_000,
      ])
      return
    case 'long-outage': {
      const ms = seeded.between(20_000, 90_000)
      for (const each of nodes) cutFromStore(world, each, ms)
    }
  }
}

function freeze({ seeded, time }: SimWorld, actor: Actor): void {
  const untilMs = time.nowMs + seeded.between(1_000, 60_000)
  actor.frozenUntilMs = Math.max(actor.frozenUntilMs, untilMs)
}

function cutFromStore(world: SimWorld, node: SimNode, ms: number): void {
  node.link.cutUntilMs = Math.max(node.link.cutUntilMs, world.time.nowMs + ms)
  markAway(world, node, node.link.cutUntilMs)
}

/** A node that was away for long must not declare others dead until it has been back for a node TTL. */
function markAway(world: SimWorld, { link }: SimNode, untilMs: number): void {
  if (untilMs - world.time.nowMs < DEFAULT_CONFIG.nodeTtlMs / 2) return
  link.awayUntilMs = Math.max(link.awayUntilMs, untilMs)
}

function drawSubmission({ seeded, time, truth }: SimWorld): Submission {
  const job = seeded.pick(SIM_JOBS)
  const kind = jobKindOf(job)
  const clockNow = Date.UTC(2026, 0, 1) + time.nowMs
  const gates = seeded.pick([[], [], [], ['a'], ['b'], ['a', 'b']] as const)
  return {
    job,
    ...(seeded.chance(0.3) ? { queue: 'heavy' } : {}),
    ...(seeded.chance(0.15) ? { weight: seeded.between(2, 3) } : {}),
    priority: seeded.pick([0, 0, 0, 5, -5]),
    ...(seeded.chance(0.25) ? { runAt: clockNow + seeded.int(20_000) } : {}),
    ...(gates.length > 0
      ? { concurrency: gates.map((key) => ({ key, limit: key === 'a' ? 1 : 2 })) }
      : {}),
    ...(seeded.chance(0.1) ? { dedupeKey: `key-${seeded.int(4)}` } : {}),
    ...(seeded.chance(0.5) ? { idempotencyKey: `request-${truth.submissions.size}` } : {}),
    ...(kind === 'once' ? { onLost: 'fail' as const } : {}),
    ...(kind === 'retrying' ? { retry: { max: 2, delayMs: 1_000 } } : {}),
    ...(kind === 'timed' ? { timeoutMs: seeded.between(500, 20_000) } : {}),
  }
}
