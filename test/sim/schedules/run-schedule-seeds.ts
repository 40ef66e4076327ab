import { runTimeSeed } from './run-schedule-seed.ts'
import { TIME_BUGS } from './schedule-bugs.ts'

/** Seeds one after the other, for people at a terminal. Returns the exit code. */
export async function runTimeSeeds(
  first: number,
  count: number,
  moves: number,
  bugName: string | undefined,
): Promise<number> {
  const bug = TIME_BUGS.find(({ name }) => name === bugName)
  if (bugName !== undefined && !bug) {
    console.error(`no such bug; one of:\n  ${TIME_BUGS.map(({ name }) => name).join('\n  ')}`)
    return 2
  }
  let times = 0
  let failed = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runTimeSeed(seed, moves, bug)
    times += result.times
    if (result.violations.length === 0) continue
    failed += 1
    const again = `npm run sim -- --world schedules --seed ${seed} --moves ${moves}`
    console.log(`seed ${seed}: ${result.violations[0]}\n  ${again}`)
  }
  console.log(`${count} seeds, ${times} times of schedules, ${failed} with violations`)
  return failed > 0 ? 1 : 0
}
