import type { JobDefinition } from '../job/job-definition.ts'
import { describeCycle } from '../workflow/step-cycle.ts'
import { findTriggerCycle, type TriggerEdge } from '../workflow/triggers/trigger-cycle.ts'
import { findJobCycle, SELF_NESTING_HINT, jobsRunBy } from '../job/job-cycle.ts'
import { sourceJobOf, TRIGGER_CYCLE_HINT } from '../workflow/triggers/triggers.ts'
import type { FileProblem } from './read-job-file.ts'
import { readYaml } from './yaml-source.ts'

interface FileOfJob {
  readonly path: string
  readonly text: string
  readonly name: string
  readonly definition: JobDefinition
}

/**
 * Finds jobs of several files that would start each other forever; each cycle is reported once. The server also
 * checks this, and it knows the jobs that have no file here.
 */
export function findCycles(files: readonly FileOfJob[]): (FileProblem & { file: string })[] {
  const edges: TriggerEdge[] = files.flatMap((file) =>
    afterIn(file).map(({ after }) => ({ cause: sourceJobOf(after), job: file.name })),
  )
  const reported = new Set<string>()
  const followed = files.flatMap((file) => {
    const after = afterIn(file)
    const causes = after.map(({ after }) => sourceJobOf(after))
    const path = findTriggerCycle(file.name, causes, edges)
    if (!path || path.some((name) => reported.has(name))) return []
    for (const name of path) reported.add(name)
    const last = after.find(({ after }) => sourceJobOf(after) === path.at(-2))
    const field = `triggers.${last?.nth}.after`
    const cycle = describeCycle([...path.keys()], (nth) => path[nth] ?? '')
    const message = `${field}: these jobs would start each other forever: ${cycle}`
    const place = readYaml(file.text).placeOf(field)
    return [
      { file: file.path, ...place, code: 'invalid_trigger', message, hint: TRIGGER_CYCLE_HINT },
    ]
  })
  return [...followed, ...findSelfNesting(files)]
}

/** Finds workflows that would run inside themselves. */
function findSelfNesting(files: readonly FileOfJob[]): (FileProblem & { file: string })[] {
  const runsOf = new Map(files.map(({ name, definition }) => [name, jobsRunBy(definition)]))
  const reported = new Set<string>()
  return files.flatMap((file) => {
    const cycle = findJobCycle(file.name, runsOf.get(file.name) ?? [], runsOf)
    if (!cycle || cycle.path.some((name) => reported.has(name))) return []
    for (const name of cycle.path) reported.add(name)
    const { field, message } = cycle
    const place = readYaml(file.text).placeOf(field)
    const code = 'invalid_workflow'
    return [{ file: file.path, ...place, code, message, hint: SELF_NESTING_HINT }]
  })
}

function afterIn({ definition: { triggers = [] } }: FileOfJob) {
  return triggers.flatMap(({ after }, nth) => (after === undefined ? [] : [{ after, nth }]))
}
