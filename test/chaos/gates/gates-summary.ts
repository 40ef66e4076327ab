import type { GatesResult } from './gates-scenario.ts'

const MAX_SHOWN = 20

/** A result for the terminal, a few lines long in any case. */
export function gatesSummary(store: string, { figures, violations, tookMs }: GatesResult): string {
  const { runs, attempts, retried, lost, cancelled, stopped, asked, askedAtGates } = figures
  const { serverKills, workerKills, workerFreezes } = figures
  return [
    `${store}: ${runs} runs, at most one of a key at once, in ${(tookMs / 1_000).toFixed(0)} s`,
    `${attempts} attempts: ${retried} failed and retried, ${lost} lost; ${cancelled} runs cancelled, ${stopped} signalled to stop`,
    `faults: ${serverKills} servers killed, ${workerKills} workers killed, ${workerFreezes} frozen; why was asked ${asked} times, ${askedAtGates} at a gate`,
    `${violations.length} violations`,
    ...violations.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}
