import type { BenchScenario } from '../harness/scenario.ts'
import { againstScenario } from './against.ts'
import { dagScenario } from './dag.ts'
import { fireScenario } from './fire.ts'
import { footprintScenario } from './footprint.ts'
import { historyScenario } from './history.ts'
import { logsScenario } from './logs.ts'
import { loopScenario } from './loop.ts'
import { latencyScenario } from './latency.ts'
import { limitsScenario, placementScenario } from './placement.ts'
import { recoveryScenario } from './recovery.ts'
import { shellScenario } from './shell.ts'
import { singleScenario } from './single.ts'
import { snapshotScenario } from './snapshot.ts'
import { throughputScenario } from './throughput.ts'
import { vacuumScenario } from './vacuum.ts'

export const SCENARIOS: readonly BenchScenario[] = [
  throughputScenario,
  singleScenario,
  latencyScenario,
  fireScenario,
  dagScenario,
  placementScenario,
  limitsScenario,
  shellScenario,
  logsScenario,
  historyScenario,
  snapshotScenario,
  vacuumScenario,
  footprintScenario,
  recoveryScenario,
  loopScenario,
  againstScenario,
]
