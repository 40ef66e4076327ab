import type { WorkflowsResult } from './workflows-scenario.ts'

const MAX_SHOWN = 20

/** A result for the terminal, a few lines long in any case. */
export function workflowsSummary(store: string, result: WorkflowsResult): string {
  const { figures, violations, tookMs } = result
  const { workflowRuns, steps, skipped, cancelled, repeated, lost, maxClosedMs } = figures
  const { followers, followersSkipped } = figures
  const { serverKills, serverFreezes, workerKills, workerFreezes } = figures
  return [
    `${store}: ${workflowRuns} workflows, ${steps} steps run, ${skipped} skipped, in ${(tookMs / 1_000).toFixed(0)} s`,
    `${cancelled} cancelled, ${repeated} repeated; ${lost} attempts lost; ${followers} runs after others, ${followersSkipped} of them skipped`,
    `faults: servers ${serverKills} killed, ${serverFreezes} frozen; workers ${workerKills} killed, ${workerFreezes} frozen`,
    `once all was well, a workflow ended ${maxClosedMs} ms after its last step at most`,
    `${violations.length} violations`,
    ...violations.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}
