import { WORKFLOW_BUGS } from './workflow-bugs.ts'
import { runWorkflowSeed } from './run-workflow-seed.ts'

/** Runs seeds one after the other, for the command line. Returns the exit code. */
export async function runWorkflowSeeds(
  first: number,
  count: number,
  moves: number,
  bugName: string | undefined,
): Promise<number> {
  const bug = WORKFLOW_BUGS.find(({ name }) => name === bugName)
  if (bugName !== undefined && !bug) {
    console.error(`no such bug; one of:\n  ${WORKFLOW_BUGS.map(({ name }) => name).join('\n  ')}`)
    return 2
  }
  const total = { workflows: 0, starts: 0, followers: 0 }
  let failed = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runWorkflowSeed(seed, moves, bug)
    total.workflows += result.workflows
    total.starts += result.starts
    total.followers += result.followers
    if (result.violations.length === 0) continue
    failed += 1
    const command = `npm run sim -- --world workflows --seed ${seed} --moves ${moves}`
    console.log(`seed ${seed}: ${result.violations[0]}\n  ${command}`)
  }
  const counts = `${total.workflows} workflows, ${total.starts} starts, ${total.followers} runs after others`
  console.log(`${count} seeds, ${counts}, ${failed} with violations`)
  return failed > 0 ? 1 : 0
}
