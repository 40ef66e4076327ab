import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServerHome } from '../support/server-home.ts'
import { check } from './checker.ts'
import type { ChaosDatabase } from './databases.ts'
import { figuresOf, type Figures } from './figures.ts'
import { createFaultInjector, type FaultInjector } from './fault-injector.ts'
import { openEnvironment, type ChaosEnvironment } from './environment.ts'
import type { Violation } from './violation.ts'

export interface ChaosPlan {
  readonly seed: number
  /** Number of faults of the scenario's own kind. */
  readonly faults: number
  /** Directory in which to keep the record; without it the record is removed. */
  readonly keep?: string | undefined
  report(line: string): void
}

export interface ScenarioResult {
  readonly figures: Figures
  readonly violations: readonly Violation[]
  readonly tookMs: number
}

export interface ScenarioContext {
  readonly environment: ChaosEnvironment
  readonly injector: FaultInjector
  readonly plan: ChaosPlan
}

export interface ChaosScenario {
  readonly servers: number
  readonly workers: number
  database(dir: string): Promise<ChaosDatabase>
  /** Every fault it causes is repaired when it resolves. */
  injectFaults(context: ScenarioContext): Promise<void>
}

/** Starts the processes, injects the faults, waits until all runs end and checks the history. */
export async function runScenario(
  scenario: ChaosScenario,
  plan: ChaosPlan,
): Promise<ScenarioResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-chaos-')
  let environment: ChaosEnvironment | undefined
  try {
    const { servers, workers } = scenario
    const database = await scenario.database(dir)
    environment = await openEnvironment({ dir, seed: plan.seed, database, servers, workers })
    const injector = createFaultInjector(environment)
    await injector.settle()
    await scenario.injectFaults({ environment, injector, plan })
    await injector.finish()
    await injector.settle()
    const history = await environment.finish()
    if (plan.keep) writeFileSync(join(dir, 'dump.json'), JSON.stringify(history.dump))
    const findings = check(history)
    const { violations } = findings
    const tookMs = performance.now() - startedMs
    return { figures: figuresOf(history, findings), violations, tookMs }
  } finally {
    await environment?.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}
