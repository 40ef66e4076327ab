import type { GraphStep } from '../../src/core/workflow/graph.ts'
import { STEP_RULES } from '../../src/core/workflow/definition.ts'
import type { Seeded } from '../sim/seeded.ts'

/** An acyclic graph of steps in an order that hides the dependencies. */
export function randomGraph(chance: Seeded): readonly GraphStep[] {
  const size = chance.between(1, chance.chance(0.1) ? 40 : 12)
  const density = chance.random()
  const places = shuffled(
    chance,
    Array.from({ length: size }, (_, index) => index),
  )
  const steps = new Array<GraphStep>(size)
  const finallyFrom = chance.chance(0.5) ? size - chance.int(Math.min(4, size)) : size
  for (const [rank, place] of places.entries()) {
    const isFinally = rank >= finallyFrom
    const needs = places
      .slice(0, rank)
      .filter((_, other) => chance.chance(density / Math.sqrt(rank - other)))
    steps[place] = {
      needs: shuffled(chance, needs),
      when: chance.chance(0.5) ? 'all-succeeded' : chance.pick(STEP_RULES),
      isFinally,
      maxParallel: chance.chance(0.5) ? null : chance.between(1, 3),
      mayFail: chance.chance(0.2),
    }
  }
  return steps
}

function shuffled<T>(chance: Seeded, items: readonly T[]): T[] {
  const left = [...items]
  return items.map(() => left.splice(chance.int(left.length), 1)[0] as T)
}
