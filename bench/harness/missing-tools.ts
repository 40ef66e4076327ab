import { without } from '../../test/support/skip-without.ts'
import type { Scenario } from './scenario.ts'

/** Without the variants whose program this machine does not have; a note says which those are. */
export function leaveOutAbsent(scenario: Scenario): Scenario {
  const tools = new Set(scenario.variants.flatMap(({ tool }) => tool ?? []))
  const absent = new Map([...tools].map((tool) => [tool, without(tool)]))
  const isHere = (tool: string | undefined) => tool === undefined || absent.get(tool) === false
  const names = scenario.variants.filter(({ tool }) => !isHere(tool)).map(({ name }) => name)
  return {
    ...scenario,
    variants: scenario.variants.filter(({ tool }) => isHere(tool)),
    figures: scenario.figures.filter(({ variant }) => !names.includes(variant)),
    notes: [
      ...scenario.notes,
      ...scenario.variants.flatMap(({ name, tool }) =>
        isHere(tool) ? [] : [`**Left out**: ${name}: ${absent.get(tool as string)}.`],
      ),
    ],
  }
}
