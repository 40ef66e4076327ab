import { describe } from 'node:test'
import { administrationContract, definitionsContract } from './administration.ts'
import { afterContract } from './after.ts'
import { backfillsContract } from './backfills.ts'
import { blobsContract } from './blobs.ts'
import { cancelContract } from './cancel.ts'
import { catalogContract } from './catalog.ts'
import { claimContract } from './claim.ts'
import { concurrencyContract } from './concurrency.ts'
import { deliveriesContract } from './deliveries.ts'
import { endContract } from './end.ts'
import type { OpenStore } from './world.ts'
import { firingContract } from './firing.ts'
import { firingAheadContract } from './firing-ahead.ts'
import { firingHandOverContract } from './firing-direct-assignment.ts'
import { flowLooksContract } from './workflow-queries.ts'
import { flowNewsContract } from './workflow-signals.ts'
import { flowsContract } from './workflows.ts'
import { flowsSideBySideContract } from './concurrent-workflows.ts'
import { followersContract } from './followers.ts'
import { followingSchedulesContract } from './following-schedules.ts'
import { gatesContract } from './gates.ts'
import { gatesCrowdContract } from './gates-contended.ts'
import { gatesPropertyContract } from './gates-property.ts'
import { hooksContract } from './hooks.ts'
import { lapsesContract } from './expectations.ts'
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
import { secretsContract } from './secrets.ts'
import { sessionsContract } from './sessions.ts'
import { submitContract } from './submit.ts'
import { submitKeysContract } from './submit-keys.ts'
import { tickContract } from './tick.ts'
import { timersContract } from './timers.ts'
import { upkeepContract } from './maintenance.ts'
import { webhooksContract } from './webhooks.ts'

export type { OpenedStore, OpenStore } from './world.ts'

const THEMES: readonly [theme: string, register: (open: OpenStore) => void][] = [
  ['submitting', submitContract],
  ['submitting with keys', submitKeysContract],
  ['ending', endContract],
  ['cancelling', cancelContract],
  ['claiming', claimContract],
  ['claiming side by side', concurrencyContract],
  ['one tick', tickContract],
  ['gates', gatesContract],
  ['gates, in any order of events', gatesPropertyContract],
  ['gates, in a crowd', gatesCrowdContract],
  ['rates', ratesContract],
  ['timers', timersContract],
  ['nodes', nodesContract],
  ['orphans', orphansContract],
  ['sessions', sessionsContract],
  ['names that became numbers', catalogContract],
  ['reading', queriesContract],
  ['logs', logsContract],
  ['definitions', definitionsContract],
  ['jobs by number', numberedJobsContract],
  ['jobs by hook', hooksContract],
  ['administration', administrationContract],
  ['blobs', blobsContract],
  ['webhooks', webhooksContract],
  ['the outbox', outboxContract],
  ['deliveries', deliveriesContract],
  ['secrets', secretsContract],
  ['schedules', schedulesContract],
  ['jobs with their schedules', scheduleRevisionsContract],
  ['firing', firingContract],
  ['firing after the end of a run', followingSchedulesContract],
  ['firing straight to a worker', firingHandOverContract],
  ['firing ahead', firingAheadContract],
  ['backfills', backfillsContract],
  ['what is expected of runs', lapsesContract],
  ['how long schedules took', pastDurationsContract],
  ['flows', flowsContract],
  ['looking at flows', flowLooksContract],
  ['news of flows', flowNewsContract],
  ['flows side by side', flowsSideBySideContract],
  ['runs after others', afterContract],
  ['jobs after others', followersContract],
  ['upkeep', upkeepContract],
  ['opening again', reopenContract],
]

/** What every store promises. `open` gives an empty store whose clock is the one handed in. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`Store on ${name}`, () => {
    for (const [theme, register] of THEMES) describe(theme, () => register(open))
  })
}
