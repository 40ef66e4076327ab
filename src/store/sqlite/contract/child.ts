import { fenceOf } from '../../../core/run/fence.ts'
import { createMinter } from '../../../core/ids.ts'
import { openSqliteStore } from '../store.ts'
import { systemNow } from '../connection/system-clock.ts'
import { newRun } from './rows.ts'

/**
 * A separate process that opens the store given as its argument, starts runs by direct assignment,
 * prints which of them are acknowledged, and continues until it is killed. Started by
 * crash.test.ts.
 */
const [path = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path })
const joined = await store.join({ name: 'child', ttlMs: 30_000, graceMs: 60_000 })
if (!joined) throw new Error('an exclusive store always has a free slot')
const [projectId = 0] = await store.internProjects(['p'])
const [jobId = 0] = await store.internJobs([{ projectId, name: 'j' }])
const [laneId = 0] = await store.internLanes([
  { project: 'p', queue: 'q', labels: [], executor: 'handler:j', weight: 1 },
])
const minter = createMinter({
  slot: joined.slot,
  floor: joined.idFloor,
  now: systemNow,
  random: Math.random,
})
for (;;) {
  const fence = fenceOf(1, 7)
  const submits = Array.from({ length: 20 }, () =>
    newRun(minter.mint(), { projectId, jobId, laneId, reservation: { session: 1, fence } }),
  )
  await store.tick({ node: joined.node, submits, ends: [], cancels: [], claims: [] })
  process.stdout.write(submits.map(({ id }) => `${id}\n`).join(''))
}
