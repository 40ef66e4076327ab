import type { Scenario } from '../harness/scenario.ts'
import { against } from './against.ts'
import { dag } from './dag.ts'
import { fire } from './fire.ts'
import { footprint } from './footprint.ts'
import { history } from './history.ts'
import { logs } from './logs.ts'
import { latency } from './latency.ts'
import { limits, placement } from './placement.ts'
import { recovery } from './recovery.ts'
import { shell } from './shell.ts'
import { single } from './single.ts'
import { snapshot } from './snapshot.ts'
import { throughput } from './throughput.ts'
import { vacuum } from './vacuum.ts'

export const SCENARIOS: readonly Scenario[] = [
  throughput,
  single,
  latency,
  fire,
  dag,
  placement,
  limits,
  shell,
  logs,
  history,
  snapshot,
  vacuum,
  footprint,
  recovery,
  against,
]
