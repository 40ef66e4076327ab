import { readOptions } from '../support/read-options.ts'
import { createCoverage } from './coverage.ts'
import { findPlantedBugs } from './find-planted-bugs.ts'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSeed } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { runScheduleSeeds } from './schedules/run-schedule-seeds.ts'
import { runWorkflowSeeds } from './workflows/run-workflow-seeds.ts'

const USAGE =
  'usage: npm run sim -- [--world schedules|workflows|hostile] [--seeds N] [--first N] [--moves N] [--bug NAME], --seed N for a single one, or --bugs to look for every planted bug'

const { values } = readOptions(USAGE, {
  seed: { type: 'string' },
  seeds: { type: 'string', default: '500' },
  first: { type: 'string', default: '1' },
  moves: { type: 'string', default: '400' },
  bug: { type: 'string' },
  bugs: { type: 'boolean', default: false },
  world: { type: 'string', default: 'runs' },
})
if (values.bugs) process.exit(await findPlantedBugs())
const WORLDS = { schedules: runScheduleSeeds, workflows: runWorkflowSeeds }
if (values.world === 'schedules' || values.world === 'workflows') {
  const first = Number(values.seed ?? values.first)
  const count = values.seed === undefined ? Number(values.seeds) : 1
  process.exit(await WORLDS[values.world](first, count, Number(values.moves), values.bug))
}
const moves = Number(values.moves)
const isHostile = values.world === 'hostile' || undefined
const bug = PLANTED_BUGS.find((planted) => planted.name === values.bug)
if (values.bug && !bug) {
  console.error(`no such bug; one of:\n  ${PLANTED_BUGS.map(({ name }) => name).join('\n  ')}`)
  process.exit(2)
}

if (values.seed !== undefined) {
  const result = await runSeed(Number(values.seed), moves, createCoverage(), bug, isHostile)
  console.log(result)
  process.exitCode = result.violations.length > 0 ? 1 : 0
} else {
  const { coverage, ...summary } = await runSeeds({
    first: Number(values.first),
    count: Number(values.seeds),
    moves,
    bug: bug?.name,
    isHostile,
    onProgress: (line) => console.log(line),
  })
  console.log(coverage.table())
  console.log(
    `${summary.seeds} seeds, ${summary.moves} moves, ${summary.runs} runs, ` +
      `${(summary.simulatedMs / 3_600_000).toFixed(1)} simulated hours, ${summary.failed.length} violations`,
  )
  for (const { seed, violations } of summary.failed) {
    console.log(
      `seed ${seed}: ${violations[0]}\n  npm run sim -- --world ${values.world} --seed ${seed} --moves ${moves}`,
    )
  }
  process.exitCode = summary.failed.length > 0 ? 1 : 0
}
