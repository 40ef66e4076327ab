import { posix } from 'node:path'
import { importsOf, isTestCode, type SourceFile } from './source-tree.ts'

/** Groups of folders below `src` that import each other in a cycle, with an import for each step. */
export function folderCycles(files: readonly SourceFile[]): string[] {
  const graph = importGraph(files)
  const inCycle = new Set<string>()
  const refusals: string[] = []
  for (const folder of graph.keys()) {
    if (inCycle.has(folder)) continue
    const path = pathBack(graph, folder)
    if (!path) continue
    for (const step of path) inCycle.add(step.from)
    refusals.push(`folders import each other: ${path.map(({ example }) => example).join('; ')}`)
  }
  return refusals
}

interface Step {
  readonly from: string
  readonly to: string
  /** One import that leads from the one folder to the other. */
  readonly example: string
}

function importGraph(files: readonly SourceFile[]): Map<string, Map<string, Step>> {
  const graph = new Map<string, Map<string, Step>>()
  for (const { path, text } of files) {
    if (!path.startsWith('src/') || isTestCode(path)) continue
    const from = posix.dirname(path)
    const steps = graph.get(from) ?? new Map<string, Step>()
    graph.set(from, steps)
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith('.')) continue
      const target = posix.join(from, specifier)
      const to = posix.dirname(target)
      if (to !== from && to.startsWith('src')) {
        steps.set(to, { from, to, example: `${path} imports ${target}` })
      }
    }
  }
  return graph
}

/** The shortest way along imports from a folder back to itself. */
function pathBack(graph: Map<string, Map<string, Step>>, start: string): Step[] | undefined {
  const cameBy = new Map<string, Step>()
  const queue = [start]
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    for (const step of graph.get(folder)?.values() ?? []) {
      if (step.to === start) return [...wayTo(cameBy, folder), step]
      if (cameBy.has(step.to)) continue
      cameBy.set(step.to, step)
      queue.push(step.to)
    }
  }
  return undefined
}

function wayTo(cameBy: Map<string, Step>, folder: string): Step[] {
  const step = cameBy.get(folder)
  return step ? [...wayTo(cameBy, step.from), step] : []
}
