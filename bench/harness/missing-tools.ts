import { skipWithout } from '../../test/support/skip-without.ts'
import type { BenchScenario } from './scenario.ts'

/** Removes the variants whose program is not installed and adds a note that names them. */
export function skipMissingTools(scenario: BenchScenario): BenchScenario {
  const tools = new Set(scenario.variants.flatMap(({ tool }) => tool ?? []))
  const absent = new Map([...tools].map((tool) => [tool, skipWithout(tool)]))
  const isInstalled = (tool: string | undefined) => tool === undefined || absent.get(tool) === false
  const names = scenario.variants.filter(({ tool }) => !isInstalled(tool)).map(({ name }) => name)
  return {
    ...scenario,
    variants: scenario.variants.filter(({ tool }) => isInstalled(tool)),
    figures: scenario.figures.filter(({ variant }) => !names.includes(variant)),
    notes: [
      ...scenario.notes,
      ...scenario.variants.flatMap(({ name, tool }) =>
        isInstalled(tool) ? [] : [`**Left out**: ${name}: ${absent.get(tool as string)}.`],
      ),
    ],
  }
}
