import { describe } from 'node:test'
import { administrationContract, definitionsContract } from './administration.ts'
import { afterContract } from './after.ts'
import { backfillsContract } from './backfills.ts'
import { blobRowsContract } from './blobs.ts'
import { cancelContract } from './cancel.ts'
import { catalogContract } from './catalog.ts'
import { claimContract } from './claim.ts'
import { clockContract } from './clock.ts'
import { concurrencyContract } from './concurrency.ts'
import { deliveriesContract } from './deliveries.ts'
import { endContract } from './end.ts'
import type { OpenStore } from './world.ts'
import { firingContract } from './firing.ts'
import { firingAheadContract } from './firing-ahead.ts'
import { firingDirectAssignmentContract } from './firing-direct-assignment.ts'
import { dirtyWorkflowsContract } from './workflow-queries.ts'
import { workflowSignalsContract } from './workflow-signals.ts'
import { workflowsContract } from './workflows.ts'
import { concurrentWorkflowsContract } from './concurrent-workflows.ts'
import { followersContract } from './followers.ts'
import { followingSchedulesContract } from './following-schedules.ts'
import { gatesContract } from './gates.ts'
import { crowdedGatesContract } from './gates-contended.ts'
import { gatesPropertyContract } from './gates-property.ts'
import { hooksContract } from './hooks.ts'
import { expectationsContract } from './expectations.ts'
import { logsContract } from './logs.ts'
import { nodesContract } from './nodes.ts'
import { numberedJobsContract } from './numbered-jobs.ts'
import { orphansContract } from './orphans.ts'
import { outboxContract } from './outbox.ts'
import { pastDurationsContract } from './past-durations.ts'
import { queriesContract } from './queries.ts'
import { ratesContract } from './rates.ts'
import { reopenContract } from './reopen.ts'
import { scheduleRevisionsContract } from './schedule-revisions.ts'
import { schedulesContract } from './schedules.ts'
import { searchContract } from './search.ts'
import { secretsContract } from './secrets.ts'
import { sessionsContract } from './sessions.ts'
import { submitContract } from './submit.ts'
import { submitKeysContract } from './submit-keys.ts'
import { tickContract } from './tick.ts'
import { timersContract } from './timers.ts'
import { maintenanceContract } from './maintenance.ts'
import { webhooksContract } from './webhooks.ts'

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
