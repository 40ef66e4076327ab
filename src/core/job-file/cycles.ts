import type { JobDefinition } from '../job/job-definition.ts'
import { showCircle } from '../workflow/step-cycle.ts'
import { findFollowCircle, type FollowEdge } from '../workflow/trigger-cycle.ts'
import { findJobCircle, INSIDE_ITSELF, jobsRunBy } from '../job/job-cycle.ts'
import { causeOf, NO_END } from '../workflow/triggers.ts'
import type { FileProblem } from './read-job-file.ts'
import { readYaml } from './yaml-source.ts'

interface FileOfJob {
  readonly path: string
  readonly text: string
  readonly name: string
  readonly definition: JobDefinition
}

/**
 * Jobs of several files that would start each other for ever, each circle once. The server looks as well, and
 * knows jobs that have no file here.
 */
export function findCircles(files: readonly FileOfJob[]): (FileProblem & { file: string })[] {
  const edges: FollowEdge[] = files.flatMap((file) =>
    afterIn(file).map(({ after }) => ({ cause: causeOf(after), job: file.name })),
  )
  const told = new Set<string>()
  const followed = files.flatMap((file) => {
    const after = afterIn(file)
    const causes = after.map(({ after }) => causeOf(after))
    const path = findFollowCircle(file.name, causes, edges)
    if (!path || path.some((name) => told.has(name))) return []
    for (const name of path) told.add(name)
    const last = after.find(({ after }) => causeOf(after) === path.at(-2))
    const field = `triggers.${last?.nth}.after`
    const way = showCircle([...path.keys()], (nth) => path[nth] ?? '')
    const message = `${field}: these jobs would start each other for ever: ${way}`
    const place = readYaml(file.text).placeOf(field)
    return [{ file: file.path, ...place, code: 'invalid_trigger', message, hint: NO_END }]
  })
  return [...followed, ...findInside(files)]
}

/** Workflows that would run inside themselves. */
function findInside(files: readonly FileOfJob[]): (FileProblem & { file: string })[] {
  const runsOf = new Map(files.map(({ name, definition }) => [name, jobsRunBy(definition)]))
  const told = new Set<string>()
  return files.flatMap((file) => {
    const circle = findJobCircle(file.name, runsOf.get(file.name) ?? [], runsOf)
    if (!circle || circle.path.some((name) => told.has(name))) return []
    for (const name of circle.path) told.add(name)
    const { field, message } = circle
    const place = readYaml(file.text).placeOf(field)
    const code = 'invalid_workflow'
    return [{ file: file.path, ...place, code, message, hint: INSIDE_ITSELF }]
  })
}

function afterIn({ definition: { triggers = [] } }: FileOfJob) {
  return triggers.flatMap(({ after }, nth) => (after === undefined ? [] : [{ after, nth }]))
}
