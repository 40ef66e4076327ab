import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeLauncher } from '../../src/worker/launcher/probe.ts'
import { killWorkers, type WorkerDeaths } from './worker-deaths.ts'

const HOW = { kill: 'killed', freeze: 'frozen' } as const
/** Four times what is promised: whether it is kept on a quiet machine, `npm run chaos` says. */
const goneWithinMs = 4_000

const PLANS: readonly (Omit<WorkerDeaths, 'rounds' | 'goneWithinMs'> & { jobs: number })[] = [
  { kind: 'kill', launcher: 'native', containment: 'pidns', jobs: 50 },
  { kind: 'kill', launcher: 'native', containment: 'cgroup', jobs: 50 },
  { kind: 'kill', launcher: 'native', containment: 'group', jobs: 50 },
  { kind: 'kill', launcher: 'node', containment: 'group', jobs: 20 },
  { kind: 'freeze', launcher: 'native', containment: 'pidns', jobs: 20 },
  { kind: 'freeze', launcher: 'native', containment: 'cgroup', jobs: 20 },
  { kind: 'freeze', launcher: 'node', containment: 'group', jobs: 20 },
]

for (const plan of PLANS) {
  const { kind, launcher, containment, jobs } = plan
  test(
    `a worker (${launcher}, ${containment}) is ${HOW[kind]} with ${jobs} trees under it: nothing outlives its lease, all finish elsewhere`,
    { skip: await whyNot(plan) },
    async (t) => {
      const { violations, goneMs } = await killWorkers({ ...plan, rounds: 1, goneWithinMs })
      t.diagnostic(`everything gone after ${goneMs.toFixed(0)} ms`)
      assert.deepEqual(violations, [])
    },
  )
}

async function whyNot({ launcher, containment }: (typeof PLANS)[number]): Promise<string | false> {
  if (process.platform !== 'linux') return 'processes are found in /proc'
  try {
    await probeLauncher({ kind: launcher, containment })
    return false
  } catch (error) {
    return (error as Error).message
  }
}
