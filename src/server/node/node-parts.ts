import type { Authenticator } from '../identity/authenticator.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { Dispatch } from './assemble-dispatch.ts'
import type { RunEvents } from './assemble-events.ts'
import type { Runs } from './assemble-runs.ts'
import type { Schedules } from './assemble-schedules.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { Webhooks } from './assemble-webhooks.ts'
import type { WorkerSessions } from './assemble-workers.ts'
import type { Workflows } from './assemble-workflows.ts'

/** The subsystems of a node that has joined: what its loops and its API work with. */
export interface NodeParts {
  readonly access: StoreAccess
  readonly dispatch: Dispatch
  readonly runs: Runs
  readonly workers: WorkerSessions
  readonly workflows: Workflows
  readonly schedules: Schedules
  readonly events: RunEvents
  readonly webhooks: Webhooks
  readonly rules: RuleCache
  readonly authenticator: Authenticator
  readonly metrics: Metrics
  readonly signals: NodeSignals
}
