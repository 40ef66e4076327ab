import { runScheduleSeed } from './run-schedule-seed.ts'
import { SCHEDULE_BUGS } from './schedule-bugs.ts'

/** Runs seeds one after the other, for the command line. Returns the exit code. */
export async function runScheduleSeeds(
  first: number,
  count: number,
  moves: number,
  bugName: string | undefined,
): Promise<number> {
  const bug = SCHEDULE_BUGS.find(({ name }) => name === bugName)
  if (bugName !== undefined && !bug) {
    console.error(`no such bug; one of:\n  ${SCHEDULE_BUGS.map(({ name }) => name).join('\n  ')}`)
    return 2
  }
  let times = 0
  let failed = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runScheduleSeed(seed, moves, bug)
    times += result.times
    if (result.violations.length === 0) continue
    failed += 1
    const command = `npm run sim -- --world schedules --seed ${seed} --moves ${moves}`
    console.log(`seed ${seed}: ${result.violations[0]}\n  ${command}`)
  }
  console.log(`${count} seeds, ${times} times of schedules, ${failed} with violations`)
  return failed > 0 ? 1 : 0
}
