import { publicId } from '../../../src/core/ids.ts'
import type { RetryOptions } from '../../../src/core/run/retry-options.ts'
import { INNER, stepNameOf, TASK } from './draw-workflow.ts'
import { SIM_WORKFLOW_CALLER, type WorkflowWorld } from './workflow-world.ts'

/** Moves and their weights in a world without faults. */
const BASE_WEIGHTS = {
  submit: 12,
  finish: 40,
  fail: 8,
  'end-at-once': 8,
  follow: 5,
  cancel: 3,
  'cancel-step': 1,
  answer: 6,
  skip: 3,
  retry: 6,
  'start-node': 3,
  'start-worker': 5,
}
const FAULTS = [
  'crash-node',
  'freeze-node',
  'cut-node',
  'lose-answers',
  'set-clock',
  'outage',
  'crash-worker',
  'freeze-worker',
  'drop',
  'repeat',
  'delay',
] as const
type Fault = (typeof FAULTS)[number]
export type WorkflowMove = keyof typeof BASE_WEIGHTS | Fault

/** Every seed draws its own weights: a few faults often find what all faults at once hide. */
export function drawWorkflowMix({ seeded }: WorkflowWorld): Record<WorkflowMove, number> {
  const faults = FAULTS.map((fault) => [fault, seeded.chance(0.5) ? seeded.pick([1, 2, 4]) : 0])
  return { ...BASE_WEIGHTS, ...Object.fromEntries(faults) } as Record<WorkflowMove, number>
}

const MAX_NODES = 3
const MAX_WORKERS = 4
const MAX_OPEN = 8
const HOUR_MS = 3_600_000
/** The longest absence of a node or worker. */
export const MAX_AWAY_MS = 40_000

export function moveWorkflows(world: WorkflowWorld, name: WorkflowMove): void {
  const { seeded, time, nodes, workers, invariants } = world
  const attempts = workers
    .filter(({ actor }) => actor.isAlive && actor.frozenUntilMs <= time.nowMs)
    .flatMap(({ running }) => [...running.values()])
  switch (name) {
    case 'submit':
      if (invariants.tracker.open().length < MAX_OPEN) submit(world)
      return
    case 'finish':
      if (attempts.length > 0) seeded.pick(attempts).succeed()
      return
    case 'fail':
      if (attempts.length > 0) seeded.pick(attempts).fail()
      return
    case 'end-at-once': {
      // A follower is submitted before the client can know that the runs have ended.
      const ending = attempts.slice(0, seeded.between(1, 4))
      const isFirst = seeded.chance(0.5)
      if (isFirst && ending.length > 0) submitFollower(world, ending)
      for (const attempt of ending) attempt.succeed()
      if (!isFirst && ending.length > 0) submitFollower(world, ending)
      return
    }
    case 'follow':
      return submitFollower(world, [])
    case 'cancel':
      return cancel(world, invariants.tracker.open())
    case 'cancel-step': {
      const runs = invariants.tracker.open().flatMap((tracked) => [...tracked.runs.values()])
      return cancel(
        world,
        runs.map((workflowId) => ({ workflowId })),
      )
    }
    case 'answer':
      return answerRandomApproval(world, 0.7)
    case 'skip': {
      const open = invariants.tracker.open()
      if (open.length === 0) return
      const { workflowId, drawn } = seeded.pick(open)
      const step = stepNameOf(seeded.int(drawn.steps.length))
      const item = seeded.chance(0.3) ? seeded.int(4) : undefined
      return world.ask(({ admin }) =>
        admin.steps.skip(SIM_WORKFLOW_CALLER, publicId('run', workflowId), step, item),
      )
    }
    case 'retry':
      return retry(world)
    case 'start-node':
      if (nodes.length < MAX_NODES) world.startNode()
      return
    case 'start-worker':
      if (workers.filter(({ actor }) => actor.isAlive).length < MAX_WORKERS) world.startWorker()
      return
    default:
      injectFault(world, name)
  }
}

export function submit(world: WorkflowWorld): void {
  const { seeded, drawn } = world
  const { name: job } = seeded.pick(drawn.filter(({ name }) => name !== INNER))
  const after = seeded.chance(0.15) ? drawNeeds(world) : []
  const more = after.length > 0 ? { after } : {}
  world.ask((node) => node.clientFor('default').submit([{ job, ...more }]))
}

/** Submits a run that starts after the given runs, and perhaps after random other ones in any state. */
function submitFollower(world: WorkflowWorld, runs: readonly { readonly runId: number }[]): void {
  const own = runs.map(({ runId }) => ({
    run: publicId('run', runId),
    on: world.seeded.pick(['ok', 'any'] as const),
  }))
  const after = [...own, ...(own.length === 0 || world.seeded.chance(0.3) ? drawNeeds(world) : [])]
  if (after.length === 0) return
  const submission = { job: 'errand', task: TASK, after }
  world.ask((node) => node.clientFor('default').submit([submission]))
}

function drawNeeds({ seeded, engine }: WorkflowWorld) {
  const recent = engine.raw.prepare<[], number>('SELECT id FROM run ORDER BY id DESC LIMIT 30')
  const known = recent.pluck().all()
  if (known.length === 0) return []
  return Array.from({ length: seeded.between(1, 3) }, () => ({
    run: publicId('run', seeded.pick(known)),
    on: seeded.pick(['ok', 'ok', 'notok', 'any'] as const),
  }))
}

function cancel(world: WorkflowWorld, runs: readonly { readonly workflowId: number }[]): void {
  if (runs.length === 0) return
  const id = publicId('run', world.seeded.pick(runs).workflowId)
  world.ask((node) => node.clientFor('default').cancel(id))
}

/** Answers an approval with yes or no. */
export function answerRandomApproval(world: WorkflowWorld, yes: number): void {
  const { seeded, invariants } = world
  const asked = invariants.tracker
    .open()
    .flatMap(({ workflowId, facts }) =>
      [...facts.values()]
        .filter(({ state }) => state === 'waiting')
        .map(({ step }) => ({ id: publicId('run', workflowId), step: stepNameOf(step) })),
    )
  if (asked.length === 0) return
  const { id, step } = seeded.pick(asked)
  const said = { isGiven: seeded.chance(yes) }
  world.ask(({ admin }) => admin.steps.answer(SIM_WORKFLOW_CALLER, id, step, said))
}

function retry(world: WorkflowWorld): void {
  const { seeded, invariants } = world
  const ended = [...invariants.tracker.all.values()].filter(({ isEnded }) => isEnded)
  if (ended.length === 0 || invariants.tracker.open().length >= MAX_OPEN) return
  const { workflowId, drawn } = seeded.pick(ended.slice(-8))
  const any = () => stepNameOf(seeded.int(drawn.steps.length))
  const how = seeded.pick<RetryOptions>([
    {},
    { only: 'failed' },
    { only: 'failed' },
    { from: any() },
    { from: [any(), any()], skip: any() },
    { skip: any() },
  ])
  const id = publicId('run', workflowId)
  world.ask((node) => node.clientFor('default').retry(id, undefined, how))
}

function injectFault(world: WorkflowWorld, fault: Fault): void {
  const { seeded, time, nodes, messageFaults } = world
  if (fault === 'drop' || fault === 'repeat' || fault === 'delay') {
    messageFaults[fault] = messageFaults[fault] > 0 ? 0 : seeded.pick([0.05, 0.2, 0.5])
    return
  }
  const workers = world.workers.filter(({ actor }) => actor.isAlive)
  if (nodes.length === 0 || workers.length === 0) return
  const node = seeded.pick(nodes)
  const worker = seeded.pick(workers)
  switch (fault) {
    case 'crash-node':
      if (nodes.length === 1) return
      node.actor.isAlive = false
      nodes.splice(nodes.indexOf(node), 1)
      return
    case 'freeze-node':
      node.actor.frozenUntilMs = time.nowMs + seeded.between(500, MAX_AWAY_MS)
      return
    case 'cut-node':
      node.link.cutUntilMs = time.nowMs + seeded.between(500, MAX_AWAY_MS)
      return
    case 'lose-answers':
      node.link.loseAnswers += seeded.between(1, 4)
      return
    case 'set-clock':
      seeded.pick([node, worker]).actor.wallSkewMs += seeded.pick([-HOUR_MS, HOUR_MS, 24 * HOUR_MS])
      return
    case 'outage':
      for (const each of nodes)
        each.link.cutUntilMs = time.nowMs + seeded.between(20_000, MAX_AWAY_MS)
      return
    case 'crash-worker':
      worker.actor.isAlive = false
      return
    case 'freeze-worker':
      worker.actor.frozenUntilMs = time.nowMs + seeded.between(1_000, MAX_AWAY_MS)
      for (const attempt of worker.running.values()) attempt.isExcused = true
  }
}
