import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GraphStep } from '../../src/core/workflow/graph.ts'
import type { JobDefinition } from '../../src/core/job/job-definition.ts'
import { isFinal } from '../../src/core/run/run-state.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { startInMemory } from '../integration/scheduler-in-memory.ts'
import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { type WorkflowHarness, startWorkflowHarness } from './workflow-harness.ts'
import { isStartAllowed } from './expected-outcomes.ts'
import { type KnownState, nextActions } from './naive-evaluator.ts'
import { randomGraph } from './random-graph.ts'

const SEEDS = 40
/** Requests of nodes to the store about workflows; each may be lost on the way there or back. */
const VERBS = [
  'beginWorkflows',
  'advanceWorkflows',
  'dirtyWorkflows',
  'findWorkflows',
  'workflowSteps',
  'resultsOf',
]

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(`no step starts early or twice and no workflow gets stuck, seed ${seed}`, () =>
    withRandomFaults(seed))
}

/**
 * Two nodes share one workflow; both lose requests to the store, and one of them comes and goes. The worker
 * records its starts, and the naive evaluator checks each of them.
 */
async function withRandomFaults(seed: number): Promise<void> {
  const chance = createSeeded(seed)
  const steps = randomGraph(chance)
  const shaking = { isOn: true }
  const wrap = (store: Store) => faulty(store, chance, shaking)
  const workflows = await startWorkflowHarness({ wrap })
  let other = await startInMemory({ beside: workflows, wrap })
  await workflows.define(definitionOf(steps, chance))
  const id = await workflows.submit()
  const faultRate = chance.random() * 0.4
  const started: string[] = []
  workflows.behave = ({ input }) => {
    const { step, item } = JSON.parse(input as string) as { step: number; item: number | null }
    started.push(item === null ? `${step}` : `${step}.${item}`)
    return chance.chance(faultRate) ? 'failed' : { result: null }
  }
  const isCancelled = chance.chance(0.3)
  for (let turn = 0; turn < 12 && !isFinal((await workflows.view(id)).state); turn += 1) {
    await workflows.clock.advance(chance.between(1, 400))
    const before = started.length
    await workflows.workOnce()
    const known = await knownOf(workflows, id, steps)
    for (const place of started.slice(before)) assertInTime(known, place)
    if (chance.chance(0.2)) {
      await other.node.stop()
      other = await startInMemory({ beside: workflows, wrap })
    }
    if (isCancelled && turn === 4) await workflows.client.cancel(id).catch(() => {})
  }
  shaking.isOn = false
  const { state, cause } = await workflows.finish(id)
  assert.deepEqual(started.toSorted(), [...new Set(started)].toSorted(), 'nothing starts twice')
  const follows = [...nextActions(await knownOf(workflows, id, steps))]
  assert.deepEqual(follows, [`end ${state} ${cause ?? ''}`.trim()], 'it ends when all of it has')
  await Promise.all([workflows.node.stop(), other.node.stop()])
}

/** The definition of a graph. Some steps have a false `if`, some are fan-outs. */
function definitionOf(steps: readonly GraphStep[], chance: Seeded): JobDefinition {
  const written = steps.map((step, index): [string, StepInput] => {
    const isFanOut = chance.chance(0.25)
    return [
      nameOf(index),
      {
        task: 'a',
        when: step.when,
        needs: step.needs.map(nameOf),
        finally: step.isFinally,
        allow_failure: step.mayFail,
        with: { step: index, item: isFanOut ? '${{ item }}' : null },
        ...(chance.chance(0.1) ? { if: '${{ false }}' } : {}),
        ...(isFanOut ? { each: Array.from({ length: chance.int(5) }, (_, item) => item) } : {}),
        ...(isFanOut && step.maxParallel !== null ? { max_parallel: step.maxParallel } : {}),
      },
    ]
  })
  return { steps: Object.fromEntries(written) }
}

/** Names whose alphabetical order is the order of the steps. */
function nameOf(step: number): string {
  return `s${String(step).padStart(3, '0')}`
}

async function knownOf(
  workflows: WorkflowHarness,
  id: string,
  steps: readonly GraphStep[],
): Promise<KnownState> {
  const { cancelling, state } = await workflows.view(id)
  const records = await workflows.records(id)
  const facts = new Map(
    records.map(({ step, item, state: is, reason, count }) => [
      item < 0 ? `${step}` : `${step}.${item}`,
      { step, item, state: is, reason: reason as never, count },
    ]),
  )
  const isStopped = cancelling || state === 'cancelled' || hasReason(records, 'cancelled')
  return { steps, facts, asked: new Set(), stop: isStopped ? 'cancelled' : null }
}

function hasReason(
  records: readonly { readonly reason: string | null }[],
  wanted: string,
): boolean {
  return records.some(({ reason }) => reason === wanted)
}

function assertInTime({ steps, facts, stop }: KnownState, place: string): void {
  if (stop !== null) return
  const [step] = place.split('.')
  const isOverAlready = facts.get(step as string)?.state !== 'running' && place.includes('.')
  assert.ok(isOverAlready || isStartAllowed(steps, facts, place), `${place} started early`)
}

function faulty(store: Store, chance: Seeded, shaking: { isOn: boolean }): Store {
  return new Proxy(store, {
    get(target, verb: keyof Store) {
      const original = target[verb] as (input: unknown) => Promise<unknown>
      if (!VERBS.includes(verb)) return original
      return async (input: unknown) => {
        const fault = shaking.isOn ? chance.weighted({ none: 8, before: 1, after: 1 }) : 'none'
        if (fault === 'before') throw new StoreError('unavailable', 'not now')
        const result = await original.call(target, input)
        if (fault === 'after') throw new StoreError('unknown', 'who knows')
        return result
      }
    },
  })
}
