import assert from 'node:assert/strict'
import type { Decision } from '../../src/core/workflow/progress/decision.ts'
import {
  isSettled,
  type StepFact,
  WHOLE_STEP,
} from '../../src/core/workflow/progress/step-facts.ts'
import { compileGraph } from '../../src/core/workflow/graph.ts'
import {
  createWorkflowProgress,
  type WorkflowProgress,
} from '../../src/core/workflow/progress/progress.ts'
import type { FinalState } from '../../src/core/run/run-state.ts'
import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { type KnownState, nextActions } from './naive-evaluator.ts'
import { randomGraph } from './random-graph.ts'

/** Counts of the events that occurred, so that a test can require all of them. */
export type SimulatedEvent = Map<string, number>

/**
 * Simulates one workflow from its first step to its last. The engine decides, the naive evaluator checks each
 * decision against the facts known then, and chance decides outcomes and the order of signals. Now and then the
 * engine is discarded and rebuilt from the facts.
 */
export function simulateWorkflow(seed: number, seen: SimulatedEvent): void {
  const chance = createSeeded(seed)
  const steps = randomGraph(chance)
  const graph = compileGraph(steps)
  const facts = new Map<string, StepFact>()
  const asked = new Set<string>()
  const started = new Set<string>()
  const known = { steps, facts, asked, stop: null as KnownState['stop'] }
  let progress = createWorkflowProgress(graph)
  let isEnded = false
  const mood = { trouble: chance.random() * 0.5, haste: chance.random(), stops: chance.chance(0.3) }

  const applyFact = (fact: StepFact) => {
    facts.set(placeOf(fact), fact)
    asked.delete(placeOf(fact))
    progress.apply(fact)
    count(seen, `${fact.state} ${fact.reason ?? (fact.count === null ? '' : 'fan-out')}`.trim())
  }

  const reload = () => {
    count(seen, 'reload')
    asked.clear()
    const stored = [...facts.values()].toSorted((a, b) => a.step - b.step || a.item - b.item)
    progress = createWorkflowProgress(graph, stored)
    if (known.stop) progress.stop(known.stop)
  }

  const write = (decision: Decision) => {
    count(seen, sentence(decision).replace(/ [\d.]+/, ''))
    if (decision.to === 'end') isEnded = true
    else if (decision.to === 'start') {
      asked.add(placeOf(decision))
      assert.ok(!facts.has(placeOf(decision)), 'what has begun does not begin again')
      started.add(placeOf(decision))
    } else {
      const { step } = decision
      const [state, reason] =
        decision.to === 'skip' ? (['skipped', decision.reason] as const) : [decision.state, null]
      facts.set(`${step}`, { step, item: WHOLE_STEP, state, reason, count: null })
    }
  }

  /** Applies all decisions, or only some of them before further signals arrive. */
  const decide = () => {
    for (;;) {
      const follows = nextActions(known)
      const limit = chance.between(1, 5)
      const decisions = progress.next(limit)
      assert.ok(decisions.length <= limit)
      for (const decision of decisions) {
        assert.ok(follows.has(sentence(decision)), `${sentence(decision)} does not follow`)
      }
      for (const decision of decisions) write(decision)
      if (decisions.length < limit) {
        const missed = follows.size - decisions.length
        assert.equal(
          missed,
          0,
          `${[...follows].join(', ')}: but only ${decisions.map(sentence).join(', ')}`,
        )
        return
      }
      if (isEnded || chance.chance(0.2)) return
    }
  }

  for (let turn = 0; ; turn += 1) {
    assert.ok(turn < 2_000, 'it never ends')
    decide()
    if (isEnded) break
    if (chance.chance(0.05)) reload()
    if (facts.size > 0 && chance.chance(0.1)) {
      count(seen, 'repeated event')
      progress.apply(chance.pick([...facts.values()]))
    }
    if (mood.stops && known.stop === null && chance.chance(0.15)) {
      known.stop = chance.pick(['cancelled', 'timeout'])
      progress.stop(known.stop)
    }
    do nextEvent(chance, known, mood.trouble, progress, applyFact)
    while (chance.chance(mood.haste * 0.7))
  }
  assert.deepEqual(progress.next(10), [], 'it ends once')
  const isOver = steps.every((_, step) => {
    const fact = facts.get(`${step}`)
    return fact !== undefined && isSettled(fact.state)
  })
  assert.ok(isOver, 'it ends when all of it has')
  count(seen, 'steps', started.size)
}

/** A random event for something started, running or waiting, or an unrelated one. */
function nextEvent(
  chance: Seeded,
  { steps, facts, asked }: KnownState,
  trouble: number,
  progress: WorkflowProgress,
  applyFact: (fact: StepFact) => void,
): void {
  const live = [...facts.values()].filter(
    ({ state, count: items }) => !isSettled(state) && items === null,
  )
  const options = [...asked].map((place) => () => applyFact(answer(chance, place, trouble)))
  for (const fact of live) {
    options.push(() => applyFact({ ...fact, state: ending(chance, trouble), reason: null }))
  }
  if (chance.chance(0.03)) {
    const step = chance.int(steps.length)
    const item = chance.chance(0.5) ? WHOLE_STEP : chance.int(3)
    if (progress.isSkippable(step, item)) {
      return applyFact({ step, item, state: 'skipped', reason: 'operator', count: null })
    }
  }
  if (options.length > 0) chance.pick(options)()
}

function answer(chance: Seeded, place: string, trouble: number): StepFact {
  const [step, item = WHOLE_STEP] = place.split('.').map(Number) as [number, number?]
  const base = { step, item, reason: null, count: null }
  if (chance.chance(trouble * 0.2)) return { ...base, state: 'failed', reason: 'expression' }
  if (item !== WHOLE_STEP) return { ...base, state: 'running' }
  switch (chance.weighted({ run: 10, each: 3, if: 2, approve: 1 })) {
    case 'run':
      return { ...base, state: 'running' }
    case 'each':
      return { ...base, state: 'running', count: chance.int(6) }
    case 'if':
      return { ...base, state: 'skipped', reason: 'condition' }
    case 'approve':
      return { ...base, state: 'waiting' }
  }
}

function ending(chance: Seeded, trouble: number): FinalState {
  if (!chance.chance(trouble)) return 'succeeded'
  return chance.chance(0.8) ? 'failed' : 'cancelled'
}

function placeOf({ step, item }: Pick<StepFact, 'step' | 'item'>): string {
  return item === WHOLE_STEP ? `${step}` : `${step}.${item}`
}

function sentence(decision: Decision): string {
  switch (decision.to) {
    case 'start':
      return `start ${placeOf(decision)}`
    case 'skip':
      return `skip ${decision.step} ${decision.reason}`
    case 'close':
      return `close ${decision.step} ${decision.state}`
    case 'end':
      return `end ${decision.state} ${decision.cause ?? ''}`.trim()
  }
}

function count(seen: SimulatedEvent, what: string, times = 1): void {
  seen.set(what, (seen.get(what) ?? 0) + times)
}
