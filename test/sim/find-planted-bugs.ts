import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSeeds } from './run-seeds.ts'
import { runScheduleSeed } from './schedules/run-schedule-seed.ts'
import { SCHEDULE_BUGS } from './schedules/schedule-bugs.ts'
import { WORKFLOW_BUGS } from './workflows/workflow-bugs.ts'
import { runWorkflowSeed } from './workflows/run-workflow-seed.ts'

const MOVES = 400
const SEEDS = 400
/** One move in the schedule and workflow worlds does more, so their bugs are found with fewer moves. */
const SMALL_MOVES = 120
const SMALL_SEEDS = 25

/** Tries every planted bug from seed 1 on and prints the first seed that finds it. Returns the exit code. */
export async function findPlantedBugs(): Promise<number> {
  let missed = 0
  const print = (name: string, seed: number | undefined) => {
    if (seed === undefined) missed += 1
    console.log(`${seed === undefined ? 'NOT FOUND' : `seed ${seed}`}: ${name}`)
  }
  for (const { name, invariant = /^/ } of PLANTED_BUGS) {
    const options = { first: 1, count: SEEDS, moves: MOVES, bug: name, untilCaught: true }
    const { failed } = await runSeeds(options)
    const noticed = failed.filter(({ violations }) =>
      violations.some((text) => invariant.test(text)),
    )
    print(name, noticed.length === 0 ? undefined : Math.min(...noticed.map(({ seed }) => seed)))
  }
  for (const bug of SCHEDULE_BUGS) {
    print(bug.name, await firstSeed((seed) => runScheduleSeed(seed, SMALL_MOVES, bug)))
  }
  for (const bug of WORKFLOW_BUGS) {
    print(bug.name, await firstSeed((seed) => runWorkflowSeed(seed, SMALL_MOVES, bug)))
  }
  const bugs = PLANTED_BUGS.length + SCHEDULE_BUGS.length + WORKFLOW_BUGS.length
  console.log(`${bugs} planted bugs, ${missed} not found`)
  return missed > 0 ? 1 : 0
}

async function firstSeed(
  run: (seed: number) => Promise<{ readonly violations: readonly string[] }>,
): Promise<number | undefined> {
  for (let seed = 1; seed <= SMALL_SEEDS; seed += 1) {
    const { violations } = await run(seed)
    if (violations.length > 0) return seed
  }
  return undefined
}
