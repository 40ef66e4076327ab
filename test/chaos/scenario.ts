import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServerHome } from '../support/server-home.ts'
import { check } from './checker.ts'
import type { Database } from './databases.ts'
import { figuresOf, type Figures } from './figures.ts'
import { createNemesis, type Nemesis } from './fault-injector.ts'
import { openStage, type Stage } from './environment.ts'
import type { Violation } from './violation.ts'

export interface Plan {
  readonly seed: number
  /** How many faults of the scenario's own kind. */
  readonly faults: number
  /** Keep the record here instead of removing it. */
  readonly keep?: string | undefined
  say(line: string): void
}

export interface Result {
  readonly figures: Figures
  readonly violations: readonly Violation[]
  readonly tookMs: number
}

export interface Scene {
  readonly stage: Stage
  readonly nemesis: Nemesis
  readonly plan: Plan
}

export interface Casting {
  readonly servers: number
  readonly workers: number
  database(dir: string): Promise<Database>
  /** Everything it breaks it has also mended when it resolves. */
  torment(scene: Scene): Promise<void>
}

/** Puts the cast on a stage, torments it, lets it come to rest and has the checker judge. */
export async function perform(casting: Casting, plan: Plan): Promise<Result> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-chaos-')
  let stage: Stage | undefined
  try {
    const { servers, workers } = casting
    const database = await casting.database(dir)
    stage = await openStage({ dir, seed: plan.seed, database, servers, workers })
    const nemesis = createNemesis(stage)
    await nemesis.settle()
    await casting.torment({ stage, nemesis, plan })
    await nemesis.relent()
    await nemesis.settle()
    const history = await stage.finish()
    if (plan.keep) writeFileSync(join(dir, 'dump.json'), JSON.stringify(history.dump))
    const findings = check(history)
    const { violations } = findings
    const tookMs = performance.now() - startedMs
    return { figures: figuresOf(history, findings), violations, tookMs }
  } finally {
    await stage?.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}
