import { FLOW_BUGS } from './workflow-bugs.ts'
import { runWorkflowSeed } from './run-workflow-seed.ts'

/** Seeds one after the other, for people at a terminal. Returns the exit code. */
export async function runWorkflowSeeds(
  first: number,
  count: number,
  moves: number,
  bugName: string | undefined,
): Promise<number> {
  const bug = FLOW_BUGS.find(({ name }) => name === bugName)
  if (bugName !== undefined && !bug) {
    console.error(`no such bug; one of:\n  ${FLOW_BUGS.map(({ name }) => name).join('\n  ')}`)
    return 2
  }
  const total = { flows: 0, starts: 0, followers: 0 }
  let failed = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runWorkflowSeed(seed, moves, bug)
    total.flows += result.flows
    total.starts += result.starts
    total.followers += result.followers
    if (result.violations.length === 0) continue
    failed += 1
    const again = `npm run sim -- --world workflows --seed ${seed} --moves ${moves}`
    console.log(`seed ${seed}: ${result.violations[0]}\n  ${again}`)
  }
  const told = `${total.flows} workflows, ${total.starts} starts, ${total.followers} runs after others`
  console.log(`${count} seeds, ${told}, ${failed} with violations`)
  return failed > 0 ? 1 : 0
}
