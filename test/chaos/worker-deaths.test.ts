import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeLauncher } from '../../src/worker/launcher/probe.ts'
import { killWorkers, type WorkerDeaths } from './worker-deaths.ts'

const HOW = { kill: 'killed', freeze: 'frozen' } as const
/** Four times the promised limit; `npm run chaos` checks the promise itself on a quiet machine. */
const maxSurvivalMs = 4_000

const PLANS: readonly (Omit<WorkerDeaths, 'rounds' | 'maxSurvivalMs'> & { jobs: number })[] = [
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
    `a worker (${launcher}, ${containment}) is ${HOW[kind]} with ${jobs} process trees: no process outlives its lease, and all runs finish elsewhere`,
    { skip: await whyNot(plan) },
    async (t) => {
      const { violations, exitedMs } = await killWorkers({ ...plan, rounds: 1, maxSurvivalMs })
      t.diagnostic(`all processes exited after ${exitedMs.toFixed(0)} ms`)
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
