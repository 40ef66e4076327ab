import { describe } from 'node:test'
import { administrationContract, definitionsContract } from './definitions/administration.ts'
import { afterContract } from './ticks/after.ts'
import { backfillsContract } from './backfills/backfills.ts'
import { blobRowsContract } from './blobs/blobs.ts'
import { cancelContract } from './ticks/cancel.ts'
import { catalogContract } from './catalog/catalog.ts'
import { claimContract } from './ticks/claim.ts'
import { clockContract } from './nodes/clock.ts'
import { concurrencyContract } from './ticks/concurrency.ts'
import { deliveriesContract } from './webhooks/deliveries.ts'
import { endContract } from './ticks/end.ts'
import type { OpenStore } from './world.ts'
import { firingContract } from './schedules/firing.ts'
import { firingAheadContract } from './schedules/firing-ahead.ts'
import { firingDirectAssignmentContract } from './schedules/firing-direct-assignment.ts'
import { dirtyWorkflowsContract } from './workflows/workflow-queries.ts'
import { workflowSignalsContract } from './workflows/workflow-signals.ts'
import { workflowsContract } from './workflows/workflows.ts'
import { concurrentWorkflowsContract } from './workflows/concurrent-workflows.ts'
import { followersContract } from './followers/followers.ts'
import { followingSchedulesContract } from './schedules/following-schedules.ts'
import { gatesContract } from './gates/gates.ts'
import { crowdedGatesContract } from './gates/gates-contended.ts'
import { gatesPropertyContract } from './gates/gates-property.ts'
import { hooksContract } from './definitions/hooks.ts'
import { expectationsContract } from './expectations/expectations.ts'
import { logsContract } from './logs/logs.ts'
import { nodesContract } from './nodes/nodes.ts'
import { numberedJobsContract } from './definitions/numbered-jobs.ts'
import { orphansContract } from './sweeps/orphans.ts'
import { outboxContract } from './webhooks/outbox.ts'
import { pastDurationsContract } from './schedules/past-durations.ts'
import { queriesContract } from './runs/queries.ts'
import { ratesContract } from './ticks/rates.ts'
import { reopenContract } from './maintenance/reopen.ts'
import { scheduleRevisionsContract } from './schedules/schedule-revisions.ts'
import { schedulesContract } from './schedules/schedules.ts'
import { searchContract } from './runs/search.ts'
import { secretsContract } from './secrets/secrets.ts'
import { sessionsContract } from './sessions/sessions.ts'
import { submitContract } from './ticks/submit.ts'
import { submitKeysContract } from './ticks/submit-keys.ts'
import { tickContract } from './ticks/tick.ts'
import { timersContract } from './sweeps/timers.ts'
import { maintenanceContract } from './maintenance/maintenance.ts'
import { webhooksContract } from './webhooks/webhooks.ts'

export type { OpenedStore, OpenStore } from './world.ts'

const THEMES: readonly [theme: string, register: (open: OpenStore) => void][] = [
  ['submitting', submitContract],
  ['submitting with keys', submitKeysContract],
  ['ending', endContract],
  ['cancelling', cancelContract],
  ['claiming', claimContract],
  ['concurrent claims', concurrencyContract],
  ['one tick', tickContract],
  ['a clock that jumps', clockContract],
  ['gates', gatesContract],
  ['gates, in any order of events', gatesPropertyContract],
  ['gates with many contenders', crowdedGatesContract],
  ['rates', ratesContract],
  ['timers', timersContract],
  ['nodes', nodesContract],
  ['orphans', orphansContract],
  ['sessions', sessionsContract],
  ['names and ids', catalogContract],
  ['reading', queriesContract],
  ['searching runs', searchContract],
  ['logs', logsContract],
  ['definitions', definitionsContract],
  ['jobs by number', numberedJobsContract],
  ['jobs by hook', hooksContract],
  ['administration', administrationContract],
  ['blobs', blobRowsContract],
  ['webhooks', webhooksContract],
  ['the outbox', outboxContract],
  ['deliveries', deliveriesContract],
  ['secrets', secretsContract],
  ['schedules', schedulesContract],
  ['jobs with their schedules', scheduleRevisionsContract],
  ['firing', firingContract],
  ['firing after the end of a run', followingSchedulesContract],
  ['firing with direct assignment', firingDirectAssignmentContract],
  ['firing ahead', firingAheadContract],
  ['backfills', backfillsContract],
  ['expectations on runs', expectationsContract],
  ['past durations of schedules', pastDurationsContract],
  ['workflows', workflowsContract],
  ['reading workflows', dirtyWorkflowsContract],
  ['signals of workflows', workflowSignalsContract],
  ['concurrent workflows', concurrentWorkflowsContract],
  ['runs after others', afterContract],
  ['jobs after others', followersContract],
  ['maintenance', maintenanceContract],
  ['opening again', reopenContract],
]

/** The contract of every store. `open` returns an empty store that uses the given clock. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`Store on ${name}`, () => {
    for (const [theme, register] of THEMES) describe(theme, () => register(open))
  })
}
